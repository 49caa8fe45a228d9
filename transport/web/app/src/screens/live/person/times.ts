// Computes how long a person was on each step, compared with the room.
import type { Schemas } from '../../../api/client'

/** Above this multiple of the room's median, a person counts as slow. */
const slowFrom = 1.4
/** The minimum in seconds for a slow step and for the length of a full bar. */
const least = 60

export interface StepTime {
  step: number
  /** The time on the step, in seconds. For the current step, the time so far. */
  seconds: number
  /** The median time of the people who went on, in seconds, or null if nobody has gone on. */
  median: number | null
  slow: boolean
}

/**
 * The steps that a person has reached and not skipped, and the length of a full bar in seconds.
 * `now` is in Unix milliseconds. The medians are by step, in seconds.
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
