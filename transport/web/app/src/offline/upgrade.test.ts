import { expect, test } from 'vitest'
import { hold } from '../device/busy'
import { isIdle } from './upgrade'

const page = (what: Partial<Record<'activeElement' | 'fullscreenElement' | 'open', object>> = {}) =>
  ({ activeElement: null, fullscreenElement: null, querySelector: () => what.open ?? null, ...what }) as unknown as Document

test('a page is loaded anew by itself when nobody is in the middle of something', () => {
  expect(isIdle(page())).toBe(true)
  expect(isIdle(page({ open: {} }))).toBe(false)
  expect(isIdle(page({ fullscreenElement: {} }))).toBe(false)
  expect(isIdle(page({ activeElement: { matches: () => true } }))).toBe(false)
})

test('it waits for all that would be interrupted', () => {
  const [one, other] = [hold(), hold()]
  one()
  one()
  expect(isIdle(page())).toBe(false)
  other()
  expect(isIdle(page())).toBe(true)
})
