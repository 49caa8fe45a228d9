// The room as a facilitator sees it. It shows where people are, who is stuck and since when, and
// whether the room can go on. The functions do not depend on a screen.
import type { Attendee, HelpRequest, Pulse, Workshop } from './state'

export type Feeling = Pulse | 'silent'

/**
 * The groups of people in a step, in display order: first people with a need (stuck, waiting or
 * being helped), then by mood. People who are away without a need are silent.
 */
export type Kind = 'need' | 'slow' | 'fine' | 'silent'

/** One person in a step. */
export interface Seat {
  readonly id: string
  readonly name: string
  /** The person's place in their own words, or null if they have not entered it. */
  readonly place: string | null
  readonly feels: Feeling
  readonly kind: Kind
  /**
   * The time since which the person has this mood, waits for help or is on the step, in Unix
   * milliseconds, or 0 if unknown.
   */
  readonly since: number
  /** The time since which the person is on the step, in Unix milliseconds, or 0 if unknown. */
  readonly onStep: number
  /**
   * The time of the person's open request for help, in Unix milliseconds, or 0 if there is none.
   */
  readonly asked: number
  /** The message of the person's request, or "". */
  readonly text: string
  readonly here: boolean
  /** Whether the person waits for help, because nobody has claimed their request. */
  readonly asks: boolean
  /** The name of the person's helper, or null if there is none. */
  readonly helper: string | null
  /**
   * Whether the code that the person downloaded or fetched last is the code with which their step
   * begins.
   */
  readonly caughtUp: boolean
  /** Whether the person has done more than open the codelab. */
  readonly began: boolean
  /** Whether the person is simulated by a rehearsal. */
  readonly simulated: boolean
}

export interface Column {
  /** The number of the step, or 0 for people who are done. */
  readonly step: number
  readonly title: string
  readonly seats: readonly Seat[]
}

const order: Record<Kind, number> = { need: 1, slow: 2, fine: 3, silent: 4 }

function kindOf(feels: Feeling, here: boolean, open: boolean): Kind {
  if (open || feels === 'stuck') return 'need'
  return here ? feels : 'silent'
}

/** A seat, the records from which it was made, and its position. */
interface Placed {
  readonly of: Attendee
  readonly request: HelpRequest | undefined
  readonly seat: Seat
  readonly column: number
  /** The sort key: open requests by creation time, then each kind by the time on the step. */
  readonly rank: number
}

/**
 * Orders the people of each step. People with an open request come first, oldest request first.
 * People who are stuck, slow, fine and silent follow, each with the longest time on the step first.
 * Between two updates only a few of ten thousand people move. The floor therefore keeps the
 * previous order and moves only these people, which takes a tenth of the time of a full sort.
 */
export class Floor {
  #placed = new Map<string, Placed>()
  /**
   * The same objects in the order of the people in the state. This order is stable, which saves
   * most lookups.
   */
  #order: Placed[] = []
  #columns: Placed[][] = []
  #shown: Column[] = []
  #steps: Workshop['steps'] | null = null
  #here: Workshop['here'] | null = null
  #help: Workshop['help'] | null = null
  /** Open requests for help, by the person who asked. */
  #requests = new Map<string, HelpRequest>()

  /**
   * The columns: one per step, and one for people who are done. Unchanged columns stay the same
   * objects.
   */
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

    if (w.steps.length === 0) return [] // nobody can be on a step

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
    // A large group that arrives simultaneously is sorted in one step.
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
  // The parsed time is cached. Parsing the times of ten thousand people on each update would cost
  // more than everything else.
  const since =
    known?.of === a && known.request === request
      ? known.seat.since
      : moment(asks && feels !== 'stuck' ? request.created_at : a.pulse ? a.pulse.at : a.step_since)
  const open = request !== undefined
  const kind = kindOf(feels, here, open)
  const same = known?.of === a ? known.seat : null
  const onStep = same ? same.onStep : moment(a.step_since)
  const asked = request ? (known?.request === request ? known.seat.asked : moment(request.created_at)) : 0
  const began = a.is_completed || a.furthest_step > 1 || a.pulse !== null || open
  const caughtUp = tookCodeOf(a)
  const text = request?.message ?? ''
  const seat: Seat = {
    id: a.id,
    name: a.name,
    place: a.place,
    feels,
    kind,
    since,
    onStep,
    asked,
    text,
    here,
    asks,
    helper,
    caughtUp,
    began,
    simulated: a.simulated,
  }
  return { of: a, request, seat, column, rank: (open ? 0 : order[kind]) * 1e14 + (open ? asked : onStep) }
}

/**
 * Whether the code that a person downloaded or fetched last is the code for their step: its start,
 * or the previous step's end.
 */
function tookCodeOf({ code_taken: taken, current_step: at, is_completed: done }: Attendee): boolean {
  return taken !== null && !done && (taken.name === `step-${at}-start` || taken.name === `step-${at - 1}-end`)
}

function moment(time: string | null): number {
  return time ? Date.parse(time) : 0
}

function compare(a: Placed, b: Placed): number {
  return a.rank - b.rank || (a.seat.id < b.seat.id ? -1 : a.seat.id > b.seat.id ? 1 : 0)
}

/** The index of p in a column, or its insertion index. */
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

/** A facilitator's thresholds for the verdict. */
export interface Thresholds {
  /** The share of people past the step that is enough to move on, 0 to 1. */
  past: number
  /** The time after which somebody who is stuck or waits must be helped first, in seconds. */
  waiting: number
}

export const defaultThresholds: Thresholds = { past: 0.75, waiting: 300 }

/** Whether the room can move on from a step, and the underlying figures. */
export interface Verdict {
  /** ready means that nobody has joined yet. */
  readonly form: 'ready' | 'go' | 'wait' | 'help'
  /** The number of people who are past the step. */
  readonly past: number
  /** The number of people, without people who only opened the codelab or have gone home. */
  readonly people: number
  /** The number of these people who are stuck. */
  readonly stuck: number
  /** The number of people with an unclaimed request. */
  readonly waiting: number
  /**
   * The longest time for which somebody has been stuck or waited for help, in seconds, or null if
   * nobody has.
   */
  readonly oldest: number | null
  /**
   * The longest time for which somebody has waited for help, in seconds, or null if nobody waits.
   */
  readonly longest: number | null
  /**
   * The step with at least three quarters of the people who are stuck or wait, or null if there is
   * none.
   */
  readonly where: number | null
}

/**
 * People who are away count as gone home if the time Seat.since is longer ago than this, in
 * milliseconds.
 */
const goneAfter = 15 * 60_000

/** Computes the verdict. step is the room's step, and now is the time in Unix milliseconds. */
export function verdict(columns: readonly Column[], help: Workshop['help'], step: number, t: Thresholds, now: number): Verdict {
  let past = 0
  let people = 0
  let stuck = 0
  let needing = 0
  let where: number | null = null
  let whereCount = 0
  let registered = 0
  let since = Infinity
  for (const c of columns) {
    let here = 0
    registered += c.seats.length
    for (const s of c.seats) {
      if (s.feels === 'stuck' || s.asks) here++
      // People who only opened the codelab, or have gone home, do not delay the room.
      if (!s.here && c.step !== 0 && (!s.began || now - s.since > goneAfter)) continue
      people++
      if (c.step === 0 || c.step > step) past++
      if (s.feels === 'stuck') {
        stuck++
        since = Math.min(since, s.since)
      }
    }
    needing += here
    if (here > 0 && c.step !== 0 && (where === null || here > whereCount)) {
      where = c.step
      whereCount = here
    }
  }
  let asked = Infinity
  let waiting = 0
  for (const h of help) {
    if (h.status !== 'pending') continue
    waiting++
    asked = Math.min(asked, Date.parse(h.created_at))
  }
  const age = (from: number) => (from === Infinity ? null : Math.max(0, (now - from) / 1000))
  const oldest = age(Math.min(since, asked))
  const share = people === 0 ? 0 : past / people
  const form = registered === 0 ? 'ready' : oldest !== null && oldest >= t.waiting ? 'help' : share >= t.past && people > 0 ? 'go' : 'wait'
  return { form, past, people, stuck, waiting, oldest, longest: age(asked), where: needing > 0 && whereCount >= needing * 0.75 ? where : null }
}

/**
 * The minimum time for which a verdict's word stays, unless people must be helped first, in
 * seconds.
 */
const wordStays = 20

/**
 * Returns the word to show. A word stays for wordStays seconds, so that it does not flicker at a
 * threshold. Only "help" and "ready" replace a word immediately, and "ready" is replaced
 * immediately. shownFor is the time since the last change of the word, in seconds.
 */
export function steadyForm(shown: Verdict['form'] | null, now: Verdict['form'], shownFor: number): Verdict['form'] {
  if (shown === null || shown === 'ready' || now === 'help' || now === 'ready' || shownFor >= wordStays) return now
  return shown
}

/**
 * The number of people by mood, and of people who wait for help or are being helped. People who
 * need help do not count as silent. People who are away count as silent, unless they need help.
 */
export type Moods = Readonly<Record<Feeling | 'asks' | 'helped', number>>

export const noMoods: Moods = { fine: 0, slow: 0, stuck: 0, silent: 0, asks: 0, helped: 0 }

export function moods(columns: readonly Column[]): Moods {
  const out = { ...noMoods }
  for (const c of columns) {
    for (const s of c.seats) {
      if (s.asks) out.asks++
      if (s.helper !== null) out.helped++
      if (s.kind !== 'need') out[s.kind]++
      else if (s.feels !== 'silent') out[s.feels]++
    }
  }
  return out
}

/** The recipients of one message to many. */
export type Audience = { readonly to: 'stuck' | 'waiting' } | { readonly to: 'step'; readonly step: number }

/** The current recipients. The server selects the recipients again when it sends. */
export function audience(columns: readonly Column[], a: Audience): Seat[] {
  return columns.flatMap((c) => c.seats.filter((s) => (a.to === 'step' ? c.step === a.step : a.to === 'stuck' ? s.feels === 'stuck' : s.asks)))
}
