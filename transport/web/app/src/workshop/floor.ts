// The room as a facilitator sees it: who is where, who is stuck and since when,
// and whether one can move on. Pure; nothing here knows a screen.
import type { Attendee, Pulse, Workshop } from './state'

export type Feeling = Pulse | 'silent'

/** One person below their step. */
export interface Seat {
  readonly id: string
  readonly name: string
  readonly feels: Feeling
  /** Since when they feel so, or are on the step, Unix milliseconds; 0: not known. */
  readonly since: number
  readonly here: boolean
  /** They have asked for help. */
  readonly asks: boolean
}

export interface Column {
  /** 0 for those who are done. */
  readonly step: number
  readonly title: string
  readonly seats: readonly Seat[]
}

const order: Record<Feeling, number> = { stuck: 0, slow: 1, fine: 2, silent: 3 }

/** A seat and where it comes in its column: first how they feel, then since when. */
interface Ranked {
  seat: Seat
  rank: number
}

// Of ten thousand people few change between two looks: what was made of a
// record serves until there is another one. It takes half as long.
const ranked = new WeakMap<Attendee, Ranked>()

function rankOf(a: Attendee, here: boolean, asks: boolean): Ranked {
  const known = ranked.get(a)
  if (known && known.seat.here === here && known.seat.asks === asks) return known
  const feels: Feeling = a.pulse?.state ?? 'silent'
  const since = known?.seat.since ?? moment(a.pulse ? a.pulse.at : a.step_since)
  const made: Ranked = { seat: { id: a.id, name: a.name, feels, since, here, asks }, rank: order[feels] * 1e14 + since }
  ranked.set(a, made)
  return made
}

function moment(time: string | null): number {
  return time ? Date.parse(time) : 0
}

/** Who sits where: stuck ones first, then slow, fine, silent, each the longest first. */
export function floor(w: Workshop): Column[] {
  const columns: Ranked[][] = [...w.steps.map(() => []), []]
  const asking = new Set(w.help.map((h) => h.attendee_id))
  for (const a of w.people.values()) {
    const at = a.is_completed ? columns.length - 1 : Math.min(Math.max(a.current_step, 1), w.steps.length) - 1
    columns[at]?.push(rankOf(a, w.here.has(a.id), asking.has(a.id)))
  }
  return columns.map((column, i) => ({
    step: i < w.steps.length ? i + 1 : 0,
    title: w.steps[i]?.title ?? '',
    seats: column.sort((a, b) => a.rank - b.rank || (a.seat.id < b.seat.id ? -1 : 1)).map((r) => r.seat),
  }))
}

/** When one should wait, as this facilitator likes it. */
export interface Thresholds {
  /** Move on when so large a share is past the step, 0 to 1. */
  past: number
  /** Help first when somebody has been stuck or has waited for so many seconds. */
  waiting: number
}

export const defaultThresholds: Thresholds = { past: 0.75, waiting: 300 }

/** Whether one can move on from a step, and the figures that say so. */
export interface Verdict {
  readonly form: 'go' | 'wait' | 'help'
  readonly past: number
  readonly people: number
  readonly stuck: number
  /** Seconds for which the longest has been stuck or waited for help; null for nobody. */
  readonly oldest: number | null
}

export function verdict(w: Workshop, step: number, t: Thresholds, now: number): Verdict {
  let past = 0
  let people = 0
  let stuck = 0
  let since = Infinity
  for (const a of w.people.values()) {
    // Whoever looked in and left does not hold the room up.
    if (!w.here.has(a.id) && !a.is_completed && a.furthest_step === 1 && !a.pulse) continue
    people++
    if (a.is_completed || a.current_step > step) past++
    if (a.pulse?.state === 'stuck') {
      stuck++
      since = Math.min(since, Date.parse(a.pulse.at))
    }
  }
  for (const h of w.help) if (h.status === 'pending') since = Math.min(since, Date.parse(h.created_at))
  const oldest = since === Infinity ? null : Math.max(0, (now - since) / 1000)
  const share = people === 0 ? 0 : past / people
  const form = oldest !== null && oldest >= t.waiting ? 'help' : share >= t.past && people > 0 ? 'go' : 'wait'
  return { form, past, people, stuck, oldest }
}

/** How many feel how, of those who are here or said so. */
export function moods(columns: readonly Column[]): Record<Feeling, number> {
  const out: Record<Feeling, number> = { fine: 0, slow: 0, stuck: 0, silent: 0 }
  for (const c of columns) for (const s of c.seats) out[s.feels]++
  return out
}
