// Computes the layout of a workshop's people on the floor. The layout determines which steps share
// a column, how many sub-columns a crowded step gets, and how much of each person is shown. It
// depends only on the arguments, not on the page or a clock. All lengths are CSS pixels.
import type { Kind } from '../../workshop/floor'

export const sizes = {
  /** The minimum and maximum width of a sub-column, and the gap between two sub-columns. */
  unit: 164,
  unitMost: 272,
  gap: 12,
  /** The width of a column for a run of empty steps. */
  strip: 28,
  /**
   * The heights of a single step's header, of a header within a stack and of the line for empty
   * steps, and the space after each part of a stack.
   */
  own: 58,
  stack: 33,
  none: 26,
  after: 14,
  /**
   * The heights of a row, a line of folded people, and the gaps between cards and between blocks.
   */
  row: 24,
  line: 20,
  cardGap: 6,
  blockGap: 4,
  /** The height of a row of somebody who needs help, if there is no space for cards. */
  needRow: 26,
  /** The height of a card in the form for crowds, including the gap below. */
  crowdCard: 76,
  /**
   * For crowds: the heights of the line with a step's counts, and of the line with the number of
   * further waits.
   */
  counts: 24,
  moreWait: 22,
  /** With more people than this on the floor, people are always drawn as cells. */
  crowd: 400,
  /** Below this height the page scrolls. Below this width the floor is one column. */
  low: 320,
  narrow: 560,
} as const

/**
 * keep is the additional cost up to which the groups stay unchanged. ease is the share of the
 * height into which a roomier form must fit.
 */
const keep = 1.5
const ease = 0.9

/** How much of each person is shown. */
export interface Level {
  /** The number of lines of the request on a card, 0 to 4. */
  readonly text: number
  readonly need: 'cards' | 'rows'
  readonly fine: 'rows' | 'names' | 'line'
  readonly silent: 'rows' | 'line'
}

/** The levels, from the most to the least detail. */
export const levels: readonly Level[] = [
  { text: 4, need: 'cards', fine: 'rows', silent: 'rows' },
  { text: 2, need: 'cards', fine: 'rows', silent: 'rows' },
  { text: 2, need: 'cards', fine: 'rows', silent: 'line' },
  { text: 1, need: 'cards', fine: 'rows', silent: 'line' },
  { text: 1, need: 'cards', fine: 'names', silent: 'line' },
  { text: 1, need: 'cards', fine: 'line', silent: 'line' },
  { text: 0, need: 'cards', fine: 'line', silent: 'line' },
  { text: 0, need: 'rows', fine: 'line', silent: 'line' },
]

/** The level number of the form for crowds, which shows people as cells. */
export const crowded = levels.length

/**
 * The number of cards per step for the people who have waited longest, and the cell sizes to try
 * with that number.
 */
const cellSizes: readonly [cards: number, cells: readonly number[]][] = [
  [3, [18, 16, 14, 12, 10, 9, 8]],
  [1, [12, 10, 9, 8, 7, 6]],
  [0, [10, 9, 8, 7, 6, 5, 4, 3]],
]

/** How people are shown: a level, or cells of a size with a number of cards. */
export interface Form {
  readonly level: number
  /** The cell size, or 0 if people are shown by name. */
  readonly cell: number
  readonly cards: number
}

const forms: readonly Form[] = levels.map((_, level) => ({ level, cell: 0, cards: 0 }))
const crowdForms: readonly Form[] = cellSizes.flatMap(([cards, cells]) => cells.map((cell) => ({ level: crowded, cell, cards })))

/** The data of a person that the layout needs. */
export interface Figure {
  readonly name: string
  readonly kind: Kind
  /** The time at which the person asked for help, in Unix milliseconds, or 0 if they have not. */
  readonly asked: number
  readonly text: string
}

export interface StepOf<P extends Figure> {
  /** The number of the step, or the symbol for the people who are done. */
  readonly key: string
  readonly title: string
  /**
   * The people in display order. The array stays the same object as long as nobody in it has
   * changed.
   */
  readonly people: readonly P[]
}

/** Measures of the texts. */
export interface Setting<P extends Figure> {
  /** The width of a text in one line. */
  measure(text: string, size: number, weight: number): number
  /** The text of the second line of a person's card. */
  state(person: P): string
  /** The width of the content at the end of a card's first line, including the gap before it. */
  aside(person: P): number
  /** The width of a row without the name. */
  rowSides: number
}

export interface Group {
  readonly form: 'strip' | 'stack' | 'own'
  /** Indexes of neighbouring steps. */
  readonly steps: readonly number[]
  /** The number of sub-columns, or 0 for a strip. */
  readonly subs: number
}

export interface Layout extends Form {
  /** The width of a sub-column. */
  readonly unit: number
  /** Whether the content is too large, so that the page or the floor scrolls. */
  readonly scrolls: boolean
  /** Whether all steps are in one column. */
  readonly narrow: boolean
  readonly groups: readonly Group[]
}

export interface Request<P extends Figure> {
  readonly width: number
  readonly height: number
  readonly steps: readonly StepOf<P>[]
  readonly previous: Layout | null
}

/** The people of a step by kind. */
export type ByKind<P> = Readonly<Record<Kind, readonly P[]>>

export function byKind<P extends Figure>(people: readonly P[]): ByKind<P> {
  const out: Record<Kind, P[]> = { need: [], slow: [], fine: [], silent: [] }
  for (const p of people) out[p.kind].push(p)
  return out
}

/**
 * A run of neighbouring empty steps, or one step with people. A run of empty steps is never split,
 * because splitting would gain nothing.
 */
interface Part {
  readonly from: number
  readonly to: number
  readonly empty: boolean
}

interface Priced extends Group {
  readonly width: number
  readonly cost: number
}

interface Plan {
  readonly cost: number
  readonly groups: readonly Priced[]
}

/** Cached measures of a step's people. */
interface Measured<P> {
  readonly kinds: ByKind<P>
  readonly waits: number
  readonly heights: Map<string, number>
}

/**
 * Computes layouts. It caches the heights of steps whose people have not changed, because most of
 * the work is computing these heights.
 */
export class Planner<P extends Figure> {
  readonly #set: Setting<P>
  readonly #measured = new WeakMap<readonly P[], Measured<P>>()

  constructor(setting: Setting<P>) {
    this.#set = setting
  }

  /**
   * The cheapest layout in the roomiest form that fits. Groups stay unchanged if that costs little.
   */
  plan({ width, height, steps, previous }: Request<P>): Layout {
    const high = Math.max(sizes.low, height)
    const people = steps.reduce((n, s) => n + s.people.length, 0)
    const parts = partsOf(steps)
    const runs = Math.min(2, parts.filter((p) => p.empty).length)
    if (width >= sizes.narrow) {
      for (const form of people > sizes.crowd ? crowdForms : [...forms, ...crowdForms]) {
        if (form.cell > 0 && people * form.cell ** 2 > width * high * 0.9) continue // the cells alone need too much space
        const roomier = previous !== null && rank(form) < rank(previous)
        const best = this.#best(width, roomier ? high * ease : high, steps, parts, runs, form)
        if (!best) continue
        const scrolls = high > height
        if (previous && !previous.narrow && previous.level === form.level && previous.cell === form.cell) {
          const kept = this.#priceOf(previous, width, high, steps)
          if (kept !== null && kept <= best.cost + keep)
            return { ...form, unit: widest(width, previous.groups), scrolls, narrow: false, groups: previous.groups }
        }
        return { ...form, unit: best.unit, scrolls, narrow: false, groups: best.groups.map(({ form, steps, subs }) => ({ form, steps, subs })) }
      }
    }
    // The floor is too narrow, or no form fits. All steps are then in one column, which scrolls.
    const form = people > sizes.crowd ? { level: crowded, cell: 12, cards: 1 } : { level: 2, cell: 0, cards: 0 }
    return { ...form, unit: width, scrolls: true, narrow: true, groups: [{ form: 'stack', steps: span(0, steps.length), subs: 1 }] }
  }

  /** Whether the current people fit into a layout. */
  fits(layout: Layout, width: number, height: number, steps: readonly StepOf<P>[]): boolean {
    return layout.narrow || this.#priceOf(layout, width, Math.max(sizes.low, height), steps) !== null
  }

  /** The height of a card, without the gap below. */
  cardHeight(p: P, unit: number, text: number): number {
    const { measure, state, aside } = this.#set
    const box = unit - 22
    const lines = (what: string, size: number, weight: number, in_: number) => linesOf(what, (t) => measure(t, size, weight), in_)
    const name = lines(p.name, 14, 600, box - aside(p)) * sizes.line
    const said = state(p)
    const words = said === '' ? 0 : lines(said, 13, 400, box) * 18
    const request = text === 0 ? 0 : p.asked === 0 ? 18 : p.text === '' ? 0 : Math.min(text, lines(p.text, 13, 400, box)) * 18
    return 14 + name + words + request
  }

  /** The height of a person's row. */
  rowHeight(p: P, unit: number): number {
    return linesOf(p.name, (t) => this.#set.measure(t, 14, 400), unit - this.#set.rowSides) * sizes.line + 4
  }

  #best(width: number, height: number, steps: readonly StepOf<P>[], parts: readonly Part[], runs: number, form: Form): (Plan & { unit: number }) | null {
    let found: (Plan & { unit: number }) | null = null
    const least = Math.max(1, Math.floor((width + sizes.gap) / (sizes.unitMost + sizes.gap)))
    const most = Math.floor((width + sizes.gap) / (sizes.unit + sizes.gap))
    for (let n = least; n <= most; n++) {
      for (let strips = 0; strips <= runs; strips++) {
        const unit = Math.min(sizes.unitMost, Math.floor((width + sizes.gap - strips * (sizes.strip + sizes.gap)) / n) - sizes.gap)
        if (unit < sizes.unit) continue
        const plan = this.#cut(n, strips, unit, height, steps, parts, form)
        if (!plan) continue
        const cost = plan.cost + pinch(n, unit)
        if (!found || cost < found.cost) found = { ...plan, cost, unit }
      }
    }
    return found && { ...found, unit: widest(width, found.groups) }
  }

  /**
   * The cheapest partition of the steps into groups of neighbours, with at most units sub-columns
   * and at most the given number of strips. Null if none fits.
   */
  #cut(units: number, strips: number, unit: number, height: number, steps: readonly StepOf<P>[], parts: readonly Part[], form: Form): Plan | null {
    const known = new Map<number, Plan | null>()
    const groups = new Map<number, Priced | null>()
    const group = (from: number, to: number, subs: number) => {
      const key = (from * 1000 + to) * 100 + subs
      let g = groups.get(key)
      if (g === undefined) groups.set(key, (g = this.#group(steps, parts[from]!.from, parts[to - 1]!.to, subs, height, form, unit)))
      return g
    }
    const best = (from: number, units: number, strips: number): Plan | null => {
      if (from === parts.length) return { cost: 0, groups: [] }
      const key = (from * 64 + units) * 4 + strips
      const before = known.get(key)
      if (before !== undefined) return before
      let found: Plan | null = null
      const consider = (g: Priced, to: number) => {
        const strip = g.form === 'strip' ? 1 : 0
        if (g.subs > units || strip > strips) return
        const rest = best(to, units - g.subs, strips - strip)
        if (rest && (!found || rest.cost + g.cost < found.cost)) found = { cost: rest.cost + g.cost, groups: [g, ...rest.groups] }
      }
      for (let to = from + 1; to <= parts.length; to++) {
        const alone = to === from + 1
        let any = false
        for (let subs = 1; subs <= (alone ? Math.max(1, units) : 1); subs++) {
          const g = group(from, to, subs)
          if (!g) continue
          any = true
          consider(g, to)
          if (g.form !== 'own') break // only a group of one step has sub-columns
        }
        // A group that is too tall for one column gets even taller with more steps.
        if (!any && !alone) break
      }
      known.set(key, found)
      return found
    }
    return best(0, units, strips)
  }

  /** A group of neighbouring steps in subs sub-columns, or null if this does not fit the floor. */
  #group(steps: readonly StepOf<P>[], from: number, to: number, subs: number, height: number, form: Form, unit: number): Priced | null {
    const part = steps.slice(from, to)
    const full = part.filter((s) => s.people.length > 0).length
    const of = span(from, to)
    if (full === 0) return { form: 'strip', steps: of, subs: 0, width: sizes.strip + sizes.gap, cost: 0.6 + 0.1 * part.length }
    const width = subs * (unit + sizes.gap)
    if (part.length === 1) {
      const high = sizes.own + this.#content(part[0]!, subs, form, unit)
      return high > height ? null : { form: 'own', steps: of, subs, width, cost: 3 * (high / height) ** 2 + 0.4 * (subs - 1) }
    }
    if (subs > 1) return null
    let high = -sizes.after
    let empty = false
    for (const s of part) {
      if (s.people.length > 0) {
        const title = linesOf(`${s.key} ${s.title}`, (t) => this.#set.measure(t, 15, 600), unit - 56)
        high += sizes.stack + (title - 1) * 22 + this.#content(s, 1, form, unit) + sizes.after
      } else if (!empty) high += sizes.none + sizes.after
      empty = s.people.length === 0
    }
    return high > height ? null : { form: 'stack', steps: of, subs: 1, width, cost: 3 * (high / height) ** 2 + 1.2 * (full - 1) + 0.3 }
  }

  /** The cost of a layout's groups with the current people, or null if the people do not fit. */
  #priceOf(layout: Layout, width: number, height: number, steps: readonly StepOf<P>[]): number | null {
    if (layout.groups.at(-1)?.steps.at(-1) !== steps.length - 1) return null
    const unit = widest(width, layout.groups)
    if (unit < sizes.unit) return null
    let cost = 0
    let used = 0
    let n = 0
    for (const g of layout.groups) {
      const now = this.#group(steps, g.steps[0]!, g.steps.at(-1)! + 1, g.subs || 1, height, layout, unit)
      if (now?.form !== g.form) return null
      cost += now.cost
      used += now.width
      n += now.subs
    }
    return used > width + sizes.gap ? null : cost + pinch(n, unit)
  }

  #measure(people: readonly P[]): Measured<P> {
    let known = this.#measured.get(people)
    if (!known) {
      const kinds = byKind(people)
      this.#measured.set(people, (known = { kinds, waits: kinds.need.filter((p) => p.asked > 0).length, heights: new Map() }))
    }
    return known
  }

  /** The height of a step's people in the given number of sub-columns. */
  #content(step: StepOf<P>, subs: number, form: Form, unit: number): number {
    const m = this.#measure(step.people)
    if (form.cell > 0) {
      const cards = Math.min(form.cards, m.waits)
      const width = subs * unit + (subs - 1) * sizes.gap
      const rows = Math.ceil(step.people.length / Math.floor(width / form.cell))
      return sizes.counts + Math.ceil(cards / subs) * sizes.crowdCard + (cards > 0 && m.waits > cards ? sizes.moreWait : 0) + rows * form.cell + 8
    }
    // When minutes get another digit, names have less space, so the key contains the total width
    // of the asides.
    const asides = m.kinds.need.reduce((n, p) => n + this.#set.aside(p), 0)
    const key = `${subs} ${unit} ${form.level} ${asides}`
    let high = m.heights.get(key)
    if (high === undefined) {
      if (m.heights.size > 500) m.heights.clear()
      m.heights.set(key, (high = this.#blocks(m.kinds, subs, levels[form.level]!, unit)))
    }
    return high
  }

  #blocks(kinds: ByKind<P>, subs: number, level: Level, unit: number): number {
    const width = subs * unit + (subs - 1) * sizes.gap
    const blocks: number[] = []
    if (kinds.need.length > 0) {
      blocks.push(
        level.need === 'rows'
          ? Math.ceil(kinds.need.length / subs) * sizes.needRow
          : highest(kinds.need, subs, (p) => this.cardHeight(p, unit, level.text), sizes.cardGap),
      )
    }
    const listed = listedOf(kinds, level)
    if (listed.length > 0) blocks.push(highest(listed, subs, (p) => this.rowHeight(p, unit), 0))
    const named = level.fine === 'names' && kinds.fine.length > 0
    const folded = (level.fine === 'line' && kinds.fine.length > 0) || (level.silent === 'line' && kinds.silent.length > 0)
    if (named) {
      // The paragraph has the counts at its beginning and its end.
      const ends = 70 + (kinds.silent.length > 0 ? 80 : 0)
      blocks.push(rowsOfNames([ends, ...kinds.fine.map((p) => this.#set.measure(p.name, 13, 400) + 12)], width) * sizes.line + 6)
    } else if (folded) blocks.push(sizes.row)
    return blocks.reduce((sum, b) => sum + b, 0) + Math.max(0, blocks.length - 1) * sizes.blockGap
  }
}

/** The people who have separate rows at a level, except people who need help. */
export function listedOf<P>(kinds: ByKind<P>, level: Level): readonly P[] {
  return [...kinds.slow, ...(level.fine === 'rows' ? kinds.fine : []), ...(level.silent === 'rows' ? kinds.silent : [])]
}

/**
 * Assigns people to sub-columns. before contains the previous sub-columns by person id. People stay
 * in their previous sub-column if it still exists. Others get the currently shortest one.
 */
export function deal<P extends { readonly id: string }>(
  people: readonly P[],
  subs: number,
  height: (p: P) => number,
  before: ReadonlyMap<string, number> = new Map(),
): P[][] {
  const out: P[][] = Array.from({ length: subs }, () => [])
  const high = Array<number>(subs).fill(0)
  const shortest = () => high.indexOf(Math.min(...high))
  // People who stay are counted first, so that new people fill the short sub-columns.
  const stays = new Map<P, number>()
  for (const p of people) {
    const at = before.get(p.id)
    if (at === undefined || at >= subs) continue
    stays.set(p, at)
    high[at]! += height(p)
  }
  for (const p of people) {
    let at = stays.get(p)
    if (at === undefined) {
      at = shortest()
      high[at]! += height(p)
    }
    out[at]!.push(p)
  }
  return out
}

/** The height of the tallest sub-column after each person was assigned to the shortest one. */
function highest<P>(people: readonly P[], subs: number, height: (p: P) => number, gap: number): number {
  const high = Array<number>(subs).fill(-gap)
  for (const p of people) high[high.indexOf(Math.min(...high))]! += height(p) + gap
  return Math.max(...high)
}

/** The number of lines that names of these widths need, one after the other. */
function rowsOfNames(widths: readonly number[], width: number): number {
  let rows = 1
  let at = 0
  for (const w of widths) {
    if (at > 0 && at + w > width) {
      rows++
      at = 0
    }
    at += w
  }
  return rows
}

/**
 * The number of lines of a text in a box of the width box. A word that is longer than a line can
 * break anywhere.
 */
export function linesOf(text: string, measure: (text: string) => number, box: number): number {
  const whole = measure(text)
  if (whole <= box) return 1
  const space = measure(' ')
  let lines = 1
  let at = 0
  for (const word of text.split(/\s+/)) {
    const w = measure(word)
    if (at > 0 && at + space + w <= box) at += space + w
    else {
      if (at > 0) lines++
      lines += Math.max(0, Math.ceil(w / box) - 1)
      at = w > box ? w % box : w
    }
  }
  return lines
}

/** Splits the steps into runs of empty steps and single steps with people. */
function partsOf(steps: readonly StepOf<Figure>[]): Part[] {
  const out: Part[] = []
  for (const [i, s] of steps.entries()) {
    const last = out.at(-1)
    const empty = s.people.length === 0
    if (empty && last?.empty) out[out.length - 1] = { ...last, to: i + 1 }
    else out.push({ from: i, to: i + 1, empty })
  }
  return out
}

/** The cost of many or narrow sub-columns. In narrow sub-columns, names and places wrap. */
const pinch = (subs: number, unit: number) => 0.2 * subs + 0.06 * Math.max(0, 204 - unit)

/** Orders forms from the roomiest to the densest. */
const rank = (f: Form) => f.level * 100 - f.cell - f.cards

/** The width of a sub-column if the groups use the whole width. */
function widest(width: number, groups: readonly Group[]): number {
  const strips = groups.filter((g) => g.form === 'strip').length
  const subs = groups.reduce((n, g) => n + g.subs, 0)
  return Math.min(sizes.unitMost, Math.floor((width + sizes.gap - strips * (sizes.strip + sizes.gap)) / Math.max(1, subs)) - sizes.gap)
}

const span = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i)
