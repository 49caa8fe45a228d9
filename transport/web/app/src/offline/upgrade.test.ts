import { expect, test, vi } from 'vitest'
import { hold } from '../device/busy'
import { isIdle, reloadWhenIdle } from './upgrade'

const page = (what: Partial<Record<'activeElement' | 'fullscreenElement' | 'open', object>> = {}) =>
  ({ activeElement: null, fullscreenElement: null, querySelector: () => what.open ?? null, ...what }) as unknown as Document

test('a page is idle without a dialog, full screen or a focused input', () => {
  expect(isIdle(page())).toBe(true)
  expect(isIdle(page({ open: {} }))).toBe(false)
  expect(isIdle(page({ fullscreenElement: {} }))).toBe(false)
  expect(isIdle(page({ activeElement: { matches: () => true } }))).toBe(false)
})

test('a page is idle only after all holds are released', () => {
  const [one, other] = [hold(), hold()]
  one()
  one()
  expect(isIdle(page())).toBe(false)
  other()
  expect(isIdle(page())).toBe(true)
})

test('two servers with different builds cannot make the page reload more than once in ten minutes', async () => {
  vi.useFakeTimers()
  const reload = vi.fn()
  const kept = new Map<string, string>()
  vi.stubGlobal('location', { reload })
  vi.stubGlobal('document', page())
  vi.stubGlobal('sessionStorage', { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => void kept.set(k, v) })
  reloadWhenIdle()
  await vi.advanceTimersByTimeAsync(2000)
  expect(reload).toHaveBeenCalledOnce()
  reloadWhenIdle()
  await vi.advanceTimersByTimeAsync(5 * 60_000)
  expect(reload).toHaveBeenCalledOnce()
  await vi.advanceTimersByTimeAsync(6 * 60_000)
  expect(reload).toHaveBeenCalledTimes(2)
  vi.stubGlobal('sessionStorage', undefined)
  reloadWhenIdle()
  await vi.advanceTimersByTimeAsync(60 * 60_000)
  expect(reload).toHaveBeenCalledTimes(2)
  vi.useRealTimers()
})
