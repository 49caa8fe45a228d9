import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { whileLooked } from './looked'

let visibility: string
let listeners: Set<() => void>

beforeEach(() => {
  vi.useFakeTimers()
  visibility = 'visible'
  listeners = new Set()
  vi.stubGlobal('document', {
    get visibilityState() {
      return visibility
    },
    addEventListener: (_: string, f: () => void) => listeners.add(f),
    removeEventListener: (_: string, f: () => void) => listeners.delete(f),
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function turn(to: string) {
  visibility = to
  listeners.forEach((f) => f())
}

test('a visible page reads at once, and then at the interval', () => {
  const read = vi.fn()
  whileLooked(read, 10_000)()
  expect(read).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(9999)
  expect(read).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(20_001)
  expect(read).toHaveBeenCalledTimes(4)
})

test('a hidden page reads nothing, and reads at once when it is visible again', () => {
  const read = vi.fn()
  visibility = 'hidden'
  whileLooked(read, 10_000)()
  vi.advanceTimersByTime(60_000)
  expect(read).toHaveBeenCalledTimes(0)
  turn('visible')
  expect(read).toHaveBeenCalledTimes(1)
  turn('hidden')
  vi.advanceTimersByTime(60_000)
  expect(read).toHaveBeenCalledTimes(1)
  turn('visible')
  expect(read).toHaveBeenCalledTimes(2)
})

test('hiding and showing the page causes no extra read', () => {
  const read = vi.fn()
  whileLooked(read, 10_000)()
  for (let i = 0; i < 5; i++) {
    vi.advanceTimersByTime(1000)
    turn('hidden')
    turn('visible')
  }
  expect(read).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(5000)
  expect(read).toHaveBeenCalledTimes(2)
})

test('nothing is read after the end', () => {
  const read = vi.fn()
  const end = whileLooked(read, 10_000)()
  end()
  vi.advanceTimersByTime(60_000)
  expect(read).toHaveBeenCalledTimes(1)
  expect(listeners.size).toBe(0)
})
