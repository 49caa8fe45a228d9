// How long a person was on each step, against the room.
import type { Schemas } from '../../../api/client'

/** Over this many times the room's median, somebody is slow. */
const slowFrom = 1.4
/** Seconds: who has just begun is not slow, and has no long bar. */
const least = 60

export interface StepTime {
  step: number
  /** Seconds, of the step that they are at so far. */
  seconds: number
  /** Seconds, of those in the room who went on; null before anybody did. */
  median: number | null
  slow: boolean
}

/**
 * The steps that somebody has reached and not jumped over, and the length of a full bar, in
 * seconds. `now` is in Unix milliseconds, the medians are by step.
 */
export function stepTimes(reached: readonly Schemas['StepReached'][], medians: readonly (number | null)[], now: number): { times: StepTime[]; scale: number } {
  const times = reached
    .filter((r) => r.seconds !== 0)
    .map((r): StepTime => {
      const seconds = r.seconds ?? Math.max(0, now - Date.parse(r.reached_at)) / 1000
      const median = medians[r.step_number - 1] ?? null
      return { step: r.step_number, seconds, median, slow: median !== null && seconds > Math.max(least, slowFrom * median) }
    })
  return { times, scale: 1.1 * Math.max(least, ...times.flatMap((t) => [t.seconds, t.median ?? 0])) }
}
