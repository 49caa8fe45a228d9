import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { onWake } from './wake'

const targets = { window: new EventTarget(), document: Object.assign(new EventTarget(), { visibilityState: 'visible' }) }
let stop: () => void
let woken: number

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('document', targets.document)
  for (const f of ['addEventListener', 'removeEventListener'] as const) vi.stubGlobal(f, targets.window[f].bind(targets.window))
  woken = 0
  stop = onWake(() => woken++)
})
afterEach(() => {
  stop()
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('the return of the network or of the page wakes the connection', () => {
  targets.window.dispatchEvent(new Event('online'))
  targets.window.dispatchEvent(new Event('pageshow'))
  targets.document.visibilityState = 'hidden'
  targets.document.dispatchEvent(new Event('visibilitychange'))
  expect(woken).toBe(2)
  targets.document.visibilityState = 'visible'
  targets.document.dispatchEvent(new Event('visibilitychange'))
  expect(woken).toBe(3)
  stop()
  targets.window.dispatchEvent(new Event('online'))
  expect(woken).toBe(3)
})

test('a jump of the clock wakes the connection, because the device slept or its clock was set', () => {
  vi.advanceTimersByTime(60_000)
  expect(woken).toBe(0)
  vi.setSystemTime(Date.now() + 600_000)
  vi.advanceTimersByTime(5000)
  expect(woken).toBe(1)
  vi.setSystemTime(Date.now() - 600_000)
  vi.advanceTimersByTime(5000)
  expect(woken).toBe(2)
  vi.advanceTimersByTime(60_000)
  expect(woken).toBe(2)
})
