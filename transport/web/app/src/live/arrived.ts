import type { ChatMessage } from '../workshop/state'
import type { Kept } from './outbox'

/** Tolerance for clock differences between servers and for transfer time, in milliseconds. */
const tolerance = 60_000

/**
 * Returns the entries that match one of the person's stored messages. The entries are so old that
 * the server no longer has their refs. Each stored message matches only one entry, so a text that
 * was sent twice on purpose needs two messages.
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
