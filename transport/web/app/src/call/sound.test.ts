import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { due, quiet, ring } from './sound'

test.each([
  [0, quiet, true],
  [5_000, 5_000 + quiet - 1, false],
  [5_000, 5_000 + quiet, true],
  [90_000, 80_000, true],
])('after a sound at %i, another sound at %i is played: %j', (last, now, heard) => expect(due(last, now)).toBe(heard))

let state: string
let played: number
let kept: Map<string, string>

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 })
  state = 'running'
  played = 0
  kept = new Map()
  const line = { setValueAtTime() {}, exponentialRampToValueAtTime() {} }
  class Node {
    gain = line
    connect() {
      return this
    }
    start() {
      played++
    }
    stop() {}
  }
  vi.stubGlobal('OscillatorNode', Node)
  vi.stubGlobal('GainNode', Node)
  vi.stubGlobal(
    'AudioContext',
    class {
      currentTime = 0
      get state() {
        return state
      }
      resume() {
        return new Promise(() => {})
      }
    },
  )
  vi.stubGlobal('localStorage', { getItem: (k: string) => kept.get(k) ?? null, setItem: (k: string, v: string) => kept.set(k, v) })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('at most one sound, of two tones, is played in ten seconds, except for a trial', async () => {
  expect(await ring()).toBe(true)
  expect(played).toBe(2)
  expect(await ring()).toBe(false)
  expect(await ring(true)).toBe(true)
  vi.advanceTimersByTime(quiet)
  expect(await ring()).toBe(true)
  expect(played).toBe(6)
})

test('a page without a click stays silent, and the missing sound does not delay the next one', async () => {
  state = 'suspended'
  const rung = ring()
  await vi.advanceTimersByTimeAsync(500)
  expect(await rung).toBe(false)
  state = 'running'
  expect(await ring()).toBe(true)
})
