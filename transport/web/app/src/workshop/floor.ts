// The room as a facilitator sees it: who is where, who is stuck and since when,
// and whether one can move on. Pure; nothing here knows a screen.
import type { Attendee, HelpRequest, Pulse, Workshop } from './state'

export type Feeling = Pulse | 'silent'

/** One person below their step. */
export interface Seat {
  readonly id: string
  readonly name: string
  /** Where they sit, in their own words; null when they have not said so. */
  readonly place: string | null
  readonly feels: Feeling
  /** Since when they feel so, wait for help, or are on the step, Unix milliseconds; 0: not known. */
  readonly since: number
  readonly here: boolean
  /** They wait for help: nobody has taken their request. */
  readonly asks: boolean
  /** Who helps them; null for nobody. */
  readonly helper: string | null
  /** They took the code with which their step begins. */
  readonly caughtUp: boolean
  /** They have done more than look in. */
  readonly began: boolean
}

export interface Column {
  /** 0 for those who are done. */
  readonly step: number
  readonly title: string
  readonly seats: readonly Seat[]
}

const order: Record<Feeling, number> = { stuck: 0, slow: 2, fine: 3, silent: 4 }

/** Those who wait for help stand with the stuck ones; behind them those who are being helped. */
function urgency(s: Seat): number {
  return s.asks ? 0 : Math.min(order[s.feels], s.helper === null ? 4 : 1)
}

/** A seat, the record it was made of, and where it stands. */
interface Placed {
  readonly of: Attendee
  readonly request: HelpRequest | undefined
  readonly seat: Seat
  readonly column: number
  /** First how they feel, then since when. */
  readonly rank: number
}

/**
 * Who sits where: stuck ones and those who wait for help first, then those who are
 * being helped, slow, fine, silent, each the longest first. It remembers the last
 * look, because of ten thousand people few move between two: those are taken out
 * and put in, which takes a tenth of sorting all anew.
 */
export class Floor {
  #placed = new Map<string, Placed>()
  /** The same in the order of the people, which stays: it saves looking most of them up. */
  #order: Placed[] = []
  #columns: Placed[][] = []
  #shown: Column[] = []
  #steps: Workshop['steps'] | null = null
  #here: Workshop['here'] | null = null
  #help: Workshop['help'] | null = null
  /** Open requests for help, by who asked. */
  #requests = new Map<string, HelpRequest>()

  /** The columns now, one a step and one for those who are done. Those in which nothing has changed are the same objects. */
  look(w: Workshop): readonly Column[] {
    if (w.steps !== this.#steps) {
      this.#steps = w.steps
      this.#placed.clear()
      this.#order = []
      this.#columns = [...w.steps.map(() => []), []]
      this.#shown = []
    }
    const others = w.here !== this.#here || w.help !== this.#help
    if (w.help !== this.#help) this.#requests = new Map(w.help.map((h) => [h.attendee_id, h]))
    const asked = this.#requests
    this.#here = w.here
    this.#help = w.help

    if (w.steps.length === 0) return [] // nobody can be anywhere

    const left: Placed[] = []
    const came: Placed[] = []
    let i = -1
    for (const a of w.people.values()) {
      i++
      const same = this.#order[i]
      const known = same?.of === a ? same : this.#placed.get(a.id)
      if (known?.of === a && (!others || (known.seat.here === w.here.has(a.id) && known.request === asked.get(a.id)))) {
        this.#order[i] = known
        continue
      }
      if (known) left.push(known)
      const now = place(a, w.here.has(a.id), asked.get(a.id), this.#columns.length, known)
      this.#placed.set(a.id, now)
      this.#order[i] = now
      came.push(now)
    }
    this.#order.length = w.people.size
    if (this.#placed.size > w.people.size) {
      for (const [id, p] of this.#placed) {
        if (w.people.has(id)) continue
        left.push(p)
        this.#placed.delete(id)
      }
    }
    this.#move(left, came)
    return (this.#shown = this.#columns.map((column, i) => {
      const before = this.#shown[i]
      if (before && !left.some((p) => p.column === i) && !came.some((p) => p.column === i)) return before
      return { step: i < w.steps.length ? i + 1 : 0, title: w.steps[i]?.title ?? '', seats: column.map((p) => p.seat) }
    }))
  }

  #move(left: readonly Placed[], came: readonly Placed[]) {
    // A crowd that comes at once is sorted at once.
    if (came.length + left.length > 1000) {
      const gone = new Set(left)
      this.#columns = this.#columns.map((column) => column.filter((p) => !gone.has(p)))
      for (const p of came) this.#columns[p.column]!.push(p)
      for (const column of this.#columns) column.sort(compare)
      return
    }
    for (const p of left) {
      const column = this.#columns[p.column]!
      column.splice(search(column, p), 1)
    }
    for (const p of came) {
      const column = this.#columns[p.column]!
      column.splice(search(column, p), 0, p)
    }
  }
}

function place(a: Attendee, here: boolean, request: HelpRequest | undefined, columns: number, known?: Placed): Placed {
  const column = a.is_completed ? columns - 1 : Math.min(Math.max(a.current_step, 1), columns - 1) - 1
  const feels: Feeling = a.pulse?.state ?? 'silent'
  const asks = request?.status === 'pending'
  const helper = request?.status === 'in_progress' ? (request.claimed_by ?? '') : null
  // Parsing ten thousand times four times a second costs more than all the rest.
  const since =
    known?.of === a && known.request === request
      ? known.seat.since
      : moment(asks && feels !== 'stuck' ? request.created_at : a.pulse ? a.pulse.at : a.step_since)
  const began = a.is_completed || a.furthest_step > 1 || a.pulse !== null || request !== undefined
  const caughtUp = tookCodeOf(a)
  const seat: Seat = { id: a.id, name: a.name, place: a.place, feels, since, here, asks, helper, caughtUp, began }
  return { of: a, request, seat, column, rank: urgency(seat) * 1e14 + since }
}

/** Whether somebody took the code that they need to begin the step they are at: of its start, or of the end of the one before. */
function tookCodeOf({ code_taken: taken, current_step: at, is_completed: done }: Attendee): boolean {
  return taken !== null && !done && (taken.name === `step-${at}-start` || taken.name === `step-${at - 1}-end`)
}

function moment(time: string | null): number {
  return time ? Date.parse(time) : 0
}

function compare(a: Placed, b: Placed): number {
  return a.rank - b.rank || (a.seat.id < b.seat.id ? -1 : a.seat.id > b.seat.id ? 1 : 0)
}

/** Where p stands in a column, or would stand. */
function search(column: readonly Placed[], p: Placed): number {
  let low = 0
  let high = column.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compare(column[middle]!, p) < 0) low = middle + 1
    else high = middle
  }
  return low
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

/** Who has left and gave no sign for so long, milliseconds, has gone home. */
const goneAfter = 15 * 60_000

export function verdict(columns: readonly Column[], help: Workshop['help'], step: number, t: Thresholds, now: number): Verdict {
  let past = 0
  let people = 0
  let stuck = 0
  let since = Infinity
  for (const c of columns) {
    for (const s of c.seats) {
      // Whoever looked in and left does not hold the room up, nor who has gone home.
      if (!s.here && c.step !== 0 && (!s.began || now - s.since > goneAfter)) continue
      people++
      if (c.step === 0 || c.step > step) past++
      if (s.feels === 'stuck') {
        stuck++
        since = Math.min(since, s.since)
      }
    }
  }
  for (const h of help) if (h.status === 'pending') since = Math.min(since, Date.parse(h.created_at))
  const oldest = since === Infinity ? null : Math.max(0, (now - since) / 1000)
  const share = people === 0 ? 0 : past / people
  const form = oldest !== null && oldest >= t.waiting ? 'help' : share >= t.past && people > 0 ? 'go' : 'wait'
  return { form, past, people, stuck, oldest }
}

/** How many feel how, and how many wait for help or are being helped. Who does is not silent. */
export type Moods = Readonly<Record<Feeling | 'asks' | 'helped', number>>

export const noMoods: Moods = { fine: 0, slow: 0, stuck: 0, silent: 0, asks: 0, helped: 0 }

export function moods(columns: readonly Column[]): Moods {
  const out = { ...noMoods }
  for (const c of columns) {
    for (const s of c.seats) {
      if (s.asks) out.asks++
      if (s.helper !== null) out.helped++
      if (s.feels !== 'silent' || !(s.asks || s.helper !== null)) out[s.feels]++
    }
  }
  return out
}

/** Whom one message to many goes to. */
export type Audience = { readonly to: 'stuck' | 'waiting' } | { readonly to: 'step'; readonly step: number }

/** Those whom it goes to as far as one knows here; the server looks again. */
export function audience(columns: readonly Column[], a: Audience): Seat[] {
  return columns.flatMap((c) => c.seats.filter((s) => (a.to === 'step' ? c.step === a.step : a.to === 'stuck' ? s.feels === 'stuck' : s.asks)))
}
