// The AI's answer and why it ended.
import { Refused } from '../api/refused'
import type { Schemas } from '../api/client'
import { m } from '../messages/compiled/messages.js'

type Event = Schemas['AIEvent']

/**
 * The reason why an answer ended. whole means that the answer is complete, and cut that it reached
 * the maximum length. blocked means that the AI refused the question or the answer. call means that
 * the AI tried to call a tool. other is any other reason, for example an empty answer.
 */
export type Ending = 'whole' | 'cut' | 'blocked' | 'call' | 'other'

const blocks = new Set(['SAFETY', 'PROHIBITED_CONTENT', 'BLOCKLIST', 'SPII', 'RECITATION', 'IMAGE_SAFETY'])
const calls = new Set(['UNEXPECTED_TOOL_CALL', 'MALFORMED_FUNCTION_CALL', 'TOO_MANY_TOOL_CALLS'])

/** The answer received so far. */
export class Answer {
  text = ''
  /** The last reason that the AI sent, or "" for none. */
  private finish = ''
  private called = false

  /** Applies an event of the stream. */
  take(event: Event) {
    for (const c of event.candidates) {
      if (c.finishReason) this.finish = c.finishReason
      for (const p of c.content.parts) {
        if (p.functionCall) this.called = true
        if (p.text && !p.thought) this.text += p.text
      }
    }
  }

  /** The reason why the answer ended. Valid only after the last event. */
  get ending(): Ending {
    if (blocks.has(this.finish)) return 'blocked'
    if (this.called || calls.has(this.finish)) return 'call'
    if (this.finish === 'MAX_TOKENS') return 'cut'
    if (this.text !== '' && (this.finish === '' || this.finish === 'STOP')) return 'whole'
    return 'other'
  }
}

/** Returns the text that explains why an answer is incomplete, or "" for a complete answer. */
export function endingWord(ending: Ending): string {
  return { whole: () => '', cut: m.ask_cut, blocked: m.ask_blocked, call: m.ask_call, other: m.ask_other }[ending]()
}

/**
 * Returns the text for an AI that is busy, with the waiting time if it is known. Returns null for
 * other errors.
 */
export function busyWord(e: unknown): string | null {
  if (!(e instanceof Refused) || e.status !== 503) return null
  if (e.after === null) return m.ask_busy()
  const seconds = Math.max(1, Math.ceil(e.after))
  return seconds < 120 ? m.ask_busy_seconds({ seconds }) : m.ask_busy_minutes({ minutes: Math.ceil(seconds / 60) })
}
