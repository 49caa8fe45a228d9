import { afterEach, beforeEach, expect, test, vi } from 'vitest'

let now: typeof import('./now')
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] }) // the clock moves only when the test sets it
  vi.resetModules()
  now = await import('./now')
})

afterEach(() => vi.useRealTimers())

const stamp = (ms: number) => new Date(ms).toISOString()
const offset = () => now.serverNow() - Date.now()
const near = (wanted: number) => expect(offset()).toBe(wanted)

test('without any response, the clock of the device is used', () => near(0))

test('a clock that is an hour off is corrected', () => {
  const here = Date.now()
  now.noteTime(stamp(here - 3_600_000), here - 100, here + 100)
  near(-3_600_000)
})

test('a slow response does not replace a quick one', () => {
  const here = Date.now()
  now.noteTime(stamp(here + 60_000), here - 10, here + 10)
  now.noteTime(stamp(here + 61_000), here - 4000, here + 4000)
  near(60_000)
  now.noteTime(stamp(here + 60_002), here - 5, here + 5)
  near(60_002)
})

test('a clock that was set meanwhile is corrected', () => {
  const here = Date.now()
  now.noteTime(stamp(here), here - 10, here + 10)
  now.noteTime(stamp(here + 120_000), here - 2000, here + 2000)
  near(120_000)
})

test('after ten minutes a less exact response is used', () => {
  const here = Date.now()
  now.noteTime(stamp(here), here - 10, here + 10)
  const later = here + 11 * 60_000
  now.noteTime(stamp(later + 500), later - 1000, later + 1000)
  near(500)
})

test('an invalid time and a response that is older than its request are ignored', () => {
  const here = Date.now()
  now.noteTime('nonsense', here, here)
  now.noteTime(stamp(here + 9_000_000), here + 5000, here)
  near(0)
})
