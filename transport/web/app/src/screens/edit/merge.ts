// Merges the versions of two authors: finds their differences, and makes the script that results
// from an author's choices.
import { guide, keyOf, sameStep, type Script, type ScriptStep } from './script'

export type Side = 'mine' | 'theirs'

/** The key of the difference in the order of the steps. */
export const order = 'order'

export interface Difference {
  /** The key of a step, or the constant guide or order. */
  readonly key: string
  readonly mine: ScriptStep | null
  readonly theirs: ScriptStep | null
  /** The side that changed this part, or null if both sides changed it. */
  readonly only: Side | null
}

export type Choices = Readonly<Record<string, Side>>

const asStep = (text: string): ScriptStep => ({ id: guide, server: null, title: '', minutes: 0, text })

/** The differences between two versions of the same base. */
export function differences(base: Script, mine: Script, theirs: Script): Difference[] {
  const was = new Map(base.steps.map((s) => [keyOf(s), s]))
  const my = new Map(mine.steps.map((s) => [keyOf(s), s]))
  const their = new Map(theirs.steps.map((s) => [keyOf(s), s]))
  const out: Difference[] = []
  for (const key of new Set([...my.keys(), ...their.keys()])) {
    const [b, m, t] = [was.get(key) ?? null, my.get(key) ?? null, their.get(key) ?? null]
    if (equal(m, t)) continue
    out.push({ key, mine: m, theirs: t, only: equal(b, t) ? 'mine' : equal(b, m) ? 'theirs' : null })
  }
  if (mine.guide !== theirs.guide) {
    out.push({
      key: guide,
      mine: asStep(mine.guide),
      theirs: asStep(theirs.guide),
      only: base.guide === theirs.guide ? 'mine' : base.guide === mine.guide ? 'theirs' : null,
    })
  }
  const [bo, mo, to] = [base, mine, theirs].map((s) => s.steps.map(keyOf).filter((k) => my.has(k) && their.has(k)))
  if (!alike(mo!, to!)) {
    const common = bo!.filter((k) => mo!.includes(k))
    const [m, t] = [mo!, to!].map((o) => o.filter((k) => was.has(k)))
    out.push({ key: order, mine: null, theirs: null, only: alike(common, t!) ? 'mine' : alike(common, m!) ? 'theirs' : null })
  }
  return out
}

/**
 * The choices that need no decision. If only one side changed something, its version is chosen.
 */
export function suggested(all: readonly Difference[]): Choices {
  return Object.fromEntries(all.filter((d) => d.only !== null).map((d) => [d.key, d.only!]))
}

/** The script that results from the choices. Without a choice, my version is used. */
export function resolved(mine: Script, theirs: Script, all: readonly Difference[], choices: Choices): Script {
  const side = (key: string): Side => choices[key] ?? 'mine'
  const differ = new Map(all.map((d) => [d.key, d]))
  const my = new Map(mine.steps.map((s) => [keyOf(s), s]))
  const their = new Map(theirs.steps.map((s) => [keyOf(s), s]))
  const [first, second] = differ.has(order) && side(order) === 'theirs' ? [theirs, mine] : [mine, theirs]

  /** The selected version of a step, or null if the selected side lacks the step. */
  const pick = (key: string): ScriptStep | null => {
    if (!differ.has(key)) return my.get(key) ?? null
    if (side(key) === 'mine') {
      const m = my.get(key)
      // A step that the other side removed is saved as a new step.
      return m ? (their.has(key) ? m : { ...m, server: null }) : null
    }
    const t = their.get(key)
    // The step keeps its id within the page.
    return t ? { ...t, id: my.get(key)?.id ?? t.id } : null
  }

  const keys = first.steps.map(keyOf)
  // A step that exists only in second is inserted after its nearest predecessor in the list.
  second.steps.map(keyOf).forEach((key, i, others) => {
    if (keys.includes(key)) return
    const before = others.slice(0, i).findLast((k) => keys.includes(k))
    keys.splice(before === undefined ? 0 : keys.indexOf(before) + 1, 0, key)
  })
  return {
    steps: keys.map(pick).filter((s) => s !== null),
    guide: differ.has(guide) && side(guide) === 'theirs' ? theirs.guide : mine.guide,
  }
}

function equal(a: ScriptStep | null, b: ScriptStep | null): boolean {
  return a === null || b === null ? a === b : sameStep(a, b)
}

function alike(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((k, i) => k === b[i])
}
