// All comments of a codelab for its facilitators, grouped by step, with new comments marked.
import type { Step, Thread } from '../workshop/state'

/** The creation time of the last comment that was seen in each thread, by thread id. */
export type Seen = Readonly<Record<string, string>>

export interface Group {
  /** The step, or null for the guide. */
  readonly step: Step | null
  readonly threads: readonly Thread[]
}

/**
 * Groups by page: the guide first, then the steps in order. In each group, threads on current text
 * come first, then threads on text that has changed, both in text order.
 */
export function byStep(threads: readonly Thread[], steps: readonly Step[]): Group[] {
  const sorted = threads.toSorted((a, b) => Number(a.stale) - Number(b.stale) || a.start_offset - b.start_offset)
  return [null, ...steps]
    .map((step) => ({ step, threads: sorted.filter((t) => (step === null ? t.target_type === 'guide' : t.target_step_id === step.id)) }))
    .filter((g) => g.threads.length > 0)
}

/** The number of unseen comments in a thread after the last answer of a facilitator. */
export function fresh(t: Thread, seen: Seen): number {
  const answered = t.messages.findLastIndex((c) => c.author_role === 'admin')
  const since = seen[t.id] ?? ''
  return t.messages.filter((c, i) => i > answered && c.created_at > since).length
}

/**
 * Updates seen: marks the threads in `at` as seen up to their last comments, and drops threads that
 * no longer exist.
 */
export function look(seen: Seen, threads: readonly Thread[], at: readonly Thread[]): Seen {
  const now = new Set(at.map((t) => t.id))
  return Object.fromEntries(
    threads.flatMap((t) => {
      const last = now.has(t.id) ? t.messages.at(-1)?.created_at : seen[t.id]
      return last === undefined ? [] : [[t.id, last]]
    }),
  )
}
