// Computes the remaining time of a workshop's timer, and when it is announced. The functions have
// no side effects.
import type { Timer } from '../workshop/state'

/** The time for which the bar shows a timer's end, in milliseconds. */
const saidFor = 120_000

/**
 * The remaining whole seconds, or 0 after the end. now is the server's time in Unix milliseconds.
 */
export function secondsLeft(timer: Timer, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(timer.ends_at) - now) / 1000))
}

/** Whether the timer is shown: it is running, or ended less than two minutes ago. */
export function timerShows(timer: Timer | null, now: number): timer is Timer {
  return timer !== null && Date.parse(timer.ends_at) + saidFor > now
}

/** The remaining share of the whole time, 0 to 1. */
export function shareLeft(timer: Timer, now: number): number {
  return timer.total_seconds > 0 ? Math.min(1, secondsLeft(timer, now) / timer.total_seconds) : 0
}

/** The remaining times that are announced, in seconds. */
const marks = [0, 60, 300] as const
export type Mark = (typeof marks)[number]

/**
 * The mark to announce after the remaining seconds have changed from before to now. After a sleep
 * of the device, only the last mark is announced.
 */
export function markPassed(before: number, now: number): Mark | null {
  return marks.find((mark) => before > mark && now <= mark) ?? null
}

/** The new end of a timer that gets more time. A timer that has ended starts again. */
export function endWithMore(timer: Timer, seconds: number, now: number): string {
  return new Date(Math.max(Date.parse(timer.ends_at), now) + seconds * 1000).toISOString()
}
