import type { ChatMessage } from '../workshop/state'
import type { Kept } from './outbox'

/** Clocks of servers and what a message needs for its way, milliseconds. */
const tolerance = 60_000

/**
 * Which of the entries, sent so long ago that the server no longer knows their
 * refs, are among one's own messages. Each message that is there stands for one
 * that was sent, so that what was said twice on purpose is there twice.
 */
export function arrived(doubtful: readonly Kept[], own: readonly ChatMessage[]): string[] {
  const there = [...own]
  return doubtful.flatMap((e) => {
    const i = there.findIndex((c) => c.message === e.message.message && Date.parse(c.created_at) >= (e.sent ?? 0) - tolerance)
    if (i < 0) return []
    there.splice(i, 1)
    return [e.ref]
  })
}
