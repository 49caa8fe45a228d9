import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Timer } from '../workshop/state'
import { Countdown } from './countdown.svelte'

const heard = vi.hoisted(() => [] as string[])
vi.mock('../messages/compiled/messages.js', () => ({
  m: new Proxy({}, { get: (_, key: string) => (args?: object) => [key, ...Object.values(args ?? {})].join(' ') }),
}))
vi.mock('../parts/announcer.svelte', () => ({ announce: (t: string) => heard.push(t) }))

beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
  heard.length = 0
})
afterEach(() => vi.useRealTimers())

const ends = (seconds: number): Timer => ({
  ends_at: new Date(Date.now() + seconds * 1000).toISOString(),
  label: '',
  kind: 'break',
  by: 'F',
  person: null,
  total_seconds: seconds,
})
const pass = (seconds: number) => vi.advanceTimersByTime(seconds * 1000)

function stage(first: Timer | null) {
  const held = { timer: first, ended: 0 }
  const countdown = new Countdown(
    () => held.timer,
    () => held.ended++,
  )
  const stop = countdown.begin()
  return { held, countdown, stop }
}

test('five minutes, one minute and the end are each read out once', () => {
  const { countdown, held, stop } = stage(ends(600))
  expect(countdown.text).toBe('10:00')
  pass(299)
  expect([countdown.text, heard]).toEqual(['5:01', []])
  pass(1)
  expect(heard).toEqual(['timer_heard_left 5'])
  pass(239)
  expect(heard).toHaveLength(1)
  pass(1)
  expect(heard).toEqual(['timer_heard_left 5', 'timer_heard_left 1'])
  pass(60)
  expect([heard.at(-1), countdown.text, held.ended]).toEqual(['timer_heard_over', '0:00', 1])
  pass(60)
  expect([heard.length, held.ended, countdown.timer !== null]).toEqual([3, 1, true])
  pass(70)
  expect(countdown.timer).toBeNull()
  stop()
})

test('a page that opens during a timer reads out no past marks', () => {
  const { held } = stage(ends(45))
  pass(1)
  expect([heard, held.ended]).toEqual([[], 0])
})

test('a page that opens after the end reads out nothing and does not report the end', () => {
  const { held, countdown } = stage(ends(-30))
  pass(5)
  expect([countdown.left, heard, held.ended]).toEqual([0, [], 0])
})

test('after a sleep of the device, only the last missed mark is read out', () => {
  const { countdown } = stage(ends(900))
  vi.setSystemTime(Date.now() + 880_000)
  countdown.look()
  expect(heard).toEqual(['timer_heard_left 1'])
})

test('a repeated timer reads out nothing again; an extended timer continues', () => {
  const { held, countdown } = stage(ends(70))
  pass(15)
  expect(heard).toEqual(['timer_heard_left 1'])
  held.timer = { ...held.timer! }
  pass(1)
  expect(heard).toHaveLength(1)
  held.timer = { ...held.timer, ends_at: new Date(Date.parse(held.timer.ends_at) + 60_000).toISOString() }
  pass(1)
  expect([countdown.text, heard.length]).toEqual(['1:53', 1])
  pass(60)
  expect(heard).toEqual(['timer_heard_left 1', 'timer_heard_left 1'])
})

test('a cleared timer is not shown', () => {
  const { held, countdown } = stage(ends(600))
  held.timer = null
  pass(1)
  expect(countdown.timer).toBeNull()
})
