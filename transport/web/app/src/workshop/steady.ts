// A list that stays unchanged while somebody uses it. The function has no side effects.
import type { Question } from './state'

/** A question as a row of the list. */
export interface Row {
  readonly question: Question
  /** Whether the question no longer exists. The row stays until the list is sorted again. */
  readonly gone: boolean
}

export interface Shown {
  readonly rows: readonly Row[]
  /** The number of new questions since the list was sorted. */
  readonly fresh: number
  /** Whether sorting would change the list. */
  readonly stale: boolean
}

export const nothingShown: Shown = { rows: [], fresh: 0, stale: false }

const nobody: ReadonlySet<string> = new Set()

const row = (question: Question): Row => ({ question, gone: false })

/**
 * The next state of the list. now is the sorted list. While somebody uses the list (held), each row
 * keeps its place and its text, so that nothing moves under a finger. Only votes change. A row that
 * the person has just changed shows its new text.
 */
export function steady(before: Shown, now: readonly Question[], held: boolean, changed: ReadonlySet<string> = nobody): Shown {
  if (!held || before.rows.length === 0) return { rows: now.map(row), fresh: 0, stale: false }
  const live = new Map(now.map((q) => [q.id, q]))
  const rows = before.rows.map(({ question: old }): Row => {
    const q = live.get(old.id)
    if (q && changed.has(q.id)) return row(q)
    return q ? { question: { ...old, votes: q.votes, voted: q.voted, mine: q.mine }, gone: false } : { question: old, gone: true }
  })
  const known = new Set(rows.map((r) => r.question.id))
  const fresh = now.filter((q) => !known.has(q.id)).length
  const moved = now.length !== rows.length || now.some((q, i) => q.id !== rows[i]!.question.id || differs(q, rows[i]!.question))
  return { rows, fresh, stale: fresh > 0 || moved }
}

const differs = (a: Question, b: Question) => a.state !== b.state || a.answer !== b.answer || a.text !== b.text
