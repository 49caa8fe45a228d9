import { expect, test } from 'vitest'
import type { Timer } from '../workshop/state'
import { newer, unstamped } from '../workshop/stamped'
import { endWithMore, markPassed, secondsLeft, shareLeft, timerShows } from './timer'

const end = Date.UTC(2026, 0, 1, 10)
const timer: Timer = { ends_at: new Date(end).toISOString(), label: 'Break', kind: 'break', by: 'F', person: null, total_seconds: 600 }

test('seconds are rounded up, so that the last second is shown', () => {
  expect([600_000, 599_999, 1, 0, -5000].map((ms) => secondsLeft(timer, end - ms))).toEqual([600, 600, 1, 0, 0])
  expect([shareLeft(timer, end - 300_000), shareLeft(timer, end - 900_000), shareLeft(timer, end)]).toEqual([0.5, 1, 0])
})

test('a timer is shown until two minutes after its end', () => {
  expect([timerShows(timer, end - 1), timerShows(timer, end + 119_000), timerShows(timer, end + 121_000), timerShows(null, end)]).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test.each([
  [301, 300, 300],
  [300, 299, null],
  [61, 60, 60],
  [1, 0, 0],
  [0, 0, null],
  [600, 0, 0], // the device slept, so only the last mark is read out
  [400, 30, 60],
  [240, 300, null], // more time
])('when the seconds left go from %i to %i, the mark read out is %j', (before, now, mark) => {
  expect(markPassed(before, now)).toBe(mark)
})

test('added time extends the remaining time, or starts now after the end', () => {
  expect(Date.parse(endWithMore(timer, 60, end - 5000))).toBe(end + 60_000)
  expect(Date.parse(endWithMore(timer, 60, end + 5000))).toBe(end + 65_000)
})

test('a value from an older position is ignored', () => {
  const told = newer(unstamped('read'), 'told', 8)
  expect(newer(told, 'older', 7)).toBe(told)
  expect(newer(told, 'again', 8).value).toBe('again')
  expect(newer(told, 'no position', null)).toEqual({ value: 'no position', at: 8 })
})
