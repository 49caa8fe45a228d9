import type { ChatMessage } from '../workshop/state'
import type { Kept } from './outbox'

/** Tolerance for clock differences between servers and for transfer time, in milliseconds. */
const tolerance = 60_000

/**
 * Returns the refs of the entries that match one of the person's stored messages. The entries are
 * so old that the server can have dropped their refs. Each stored message matches only one entry,
 * so a text that was sent twice on purpose needs two messages.
 */
export function arrived(doubtful: readonly Kept[], own: readonly ChatMessage[]): string[] {
  return [...paired(doubtful, own, (e, c) => isSame(c, e) && Date.parse(c.created_at) >= (e.sent ?? 0) - tolerance).keys()]
}

/** Whether a stored message has the kind, the text and the recipient of an entry. */
export const isSame = (c: ChatMessage, { message }: Kept) =>
  c.msg_type === message.type && c.message === message['message'] && (message.type !== 'dm' || c.target_id === message['target_id'])

/**
 * Pairs entries with the messages that fit them, each message only once. Returns the ids of the
 * messages by the refs of their entries.
 */
export function paired(entries: readonly Kept[], own: readonly ChatMessage[], fits: (e: Kept, c: ChatMessage) => boolean): Map<string, string> {
  const left = [...own]
  const found = new Map<string, string>()
  for (const e of entries) {
    const i = left.findIndex((c) => fits(e, c))
    if (i >= 0) found.set(e.ref, left.splice(i, 1)[0]!.id)
  }
  return found
}
