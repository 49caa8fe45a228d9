// The timer of a workshop: what is left of it, and when that is read out. Pure.
import type { Timer } from './state'

/** After its end the bar says so for this long, milliseconds. */
const saidFor = 120_000

/** Whole seconds that are left at a time of the server, Unix milliseconds; 0 when it is over. */
export function secondsLeft(timer: Timer, now: number): number {
  return Math.max(0, Math.ceil((Date.parse(timer.ends_at) - now) / 1000))
}

/** Whether the timer still has something to say: it runs, or it ended a moment ago. */
export function timerShows(timer: Timer | null, now: number): timer is Timer {
  return timer !== null && Date.parse(timer.ends_at) + saidFor > now
}

/** What is left as a share of the whole time, 0 to 1. */
export function shareLeft(timer: Timer, now: number): number {
  return timer.total_seconds > 0 ? Math.min(1, secondsLeft(timer, now) / timer.total_seconds) : 0
}

/** When it is read out: five minutes, one minute and none left, seconds. */
const marks = [0, 60, 300] as const
export type Mark = (typeof marks)[number]

/**
 * What is read out when so many seconds were left before, and so many are left now. A page
 * that slept for a while says the last mark only.
 */
export function markPassed(before: number, now: number): Mark | null {
  return marks.find((mark) => before > mark && now <= mark) ?? null
}

/** The end of a timer that gets more time. One that is over begins anew. */
export function endWithMore(timer: Timer, seconds: number, now: number): string {
  return new Date(Math.max(Date.parse(timer.ends_at), now) + seconds * 1000).toISOString()
}
