// Finds the comments that a save would affect. The positions of comments refer to the text for
// attendees, which does not contain the notes for facilitators.
import { withoutNotes } from '../../markdown/notes'
import type { Thread } from '../../workshop/state'
import { keyOf, type Script } from './script'

export interface Touched {
  readonly thread: Thread
  /** The title of the step, or null for the guide. */
  readonly title: string | null
  /**
   * stale means that replies are no longer possible. gone means that the thread is deleted together
   * with its step.
   */
  readonly what: 'stale' | 'gone'
}

/** The threads that a save would make stale or delete. */
export function touched(base: Script, draft: Script, threads: readonly Thread[]): Touched[] {
  const before = new Map(base.steps.map((s) => [keyOf(s), s]))
  const after = new Map(draft.steps.map((s) => [keyOf(s), s]))
  const out: Touched[] = []
  for (const thread of threads) {
    if (thread.target_type === 'guide') {
      if (!thread.stale && changed(base.guide, draft.guide)) out.push({ thread, title: null, what: 'stale' })
      continue
    }
    const was = before.get(thread.target_step_id ?? '')
    const is = after.get(thread.target_step_id ?? '')
    if (!was) continue
    if (!is) out.push({ thread, title: was.title, what: 'gone' })
    else if (!thread.stale && changed(was.text, is.text)) out.push({ thread, title: is.title, what: 'stale' })
  }
  return out
}

function changed(before: string, after: string): boolean {
  return before !== after && withoutNotes(before) !== withoutNotes(after)
}
