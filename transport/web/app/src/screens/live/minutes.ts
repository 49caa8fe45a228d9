import type { Attendee } from '../../workshop/state'
import type { Seat } from '../../workshop/floor'

/**
 * The median time at which a step's people arrived, in Unix milliseconds, or null without people.
 */
export function sinceWhen(seats: readonly Pick<Seat, 'id'>[], people: ReadonlyMap<string, Pick<Attendee, 'step_since'>>): number | null {
  const since = seats.map((s) => Date.parse(people.get(s.id)?.step_since ?? '')).filter((t) => !Number.isNaN(t))
  return since.sort((a, b) => a - b)[Math.floor((since.length - 1) / 2)] ?? null
}
