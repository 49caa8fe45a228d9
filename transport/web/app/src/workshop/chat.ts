import { facilitator, type ChatMessage } from './state'

/** The newest page of the history, before it what is held of older pages. */
export function mergeChat(held: readonly ChatMessage[], page: readonly ChatMessage[]): readonly ChatMessage[] {
  const first = page[0]
  const last = held.at(-1)
  if (!first || !last || first.id > last.id) return page // nothing, or a gap between them
  return [...held.filter((m) => m.id < first.id), ...page]
}

/** The other person of a direct message, as seen by me. */
export function otherEnd(m: ChatMessage, me: string): string {
  return m.sender_id === me ? (m.target_id ?? facilitator) : m.target_id === me || m.target_id === null ? m.sender_id : m.target_id
}

/** The id of the last direct message of each person that was read. */
export type ReadMarks = Readonly<Record<string, string>>

/** How old a direct message is at most that a page brings up when it opens, milliseconds. */
const recent = 2 * 60 * 60 * 1000

/** Recent direct messages to me that were neither read nor answered, the oldest first. now is a time. */
export function unread(chat: readonly ChatMessage[], me: string, marks: ReadMarks, now: number): ChatMessage[] {
  const answered = new Map<string, string>()
  for (const m of chat) if (m.msg_type === 'dm' && m.sender_id === me) answered.set(otherEnd(m, me), m.id)
  return chat.filter((m) => {
    const after = (id: string | undefined) => id === undefined || m.id > id
    return (
      m.msg_type === 'dm' &&
      m.sender_id !== me &&
      (m.target_id === me || m.target_id === null) &&
      now - Date.parse(m.created_at) < recent &&
      after(answered.get(m.sender_id)) &&
      after(marks[m.sender_id])
    )
  })
}

/** The marks after these messages were read. */
export function marked(marks: ReadMarks, read: readonly ChatMessage[]): ReadMarks {
  const next: Record<string, string> = { ...marks }
  for (const m of read) if ((next[m.sender_id] ?? '') < m.id) next[m.sender_id] = m.id
  return next
}

/** What everybody reads: the room's chat and broadcasts. */
export function ofRoom(chat: readonly ChatMessage[]): readonly ChatMessage[] {
  return chat.filter((m) => m.msg_type !== 'dm')
}

/** The number of the room's messages that are held, however many direct ones are between them, and the maximum number of all messages. */
const ofRoomHeld = 50
const mostHeld = 4000

/**
 * The index of the first message to hold. The newest messages are held, and more of them if
 * one message to hundreds of people would push out the room's chat. The held messages have
 * no gap, since older ones are requested by the id of the first.
 */
export function heldFrom(chat: readonly ChatMessage[], newest: number): number {
  let from = Math.max(0, chat.length - newest)
  let room = 0
  for (let i = from; i < chat.length && room < ofRoomHeld; i++) if (chat[i]!.msg_type !== 'dm') room++
  while (from > 0 && room < ofRoomHeld && chat.length - from < mostHeld) if (chat[--from]!.msg_type !== 'dm') room++
  return from
}

/** A conversation with one person, or with the facilitators. */
export interface Conversation {
  with: string
  name: string
  messages: readonly ChatMessage[]
}

/** Direct messages by the other person, the latest conversation first. */
export function conversations(chat: readonly ChatMessage[], me: string, nameOf: (id: string) => string): Conversation[] {
  const by = new Map<string, ChatMessage[]>()
  for (const m of chat) {
    if (m.msg_type !== 'dm') continue
    const other = otherEnd(m, me)
    const list = by.get(other)
    if (list) list.push(m)
    else by.set(other, [m])
  }
  const out = [...by].map(([id, messages]) => ({
    with: id,
    name: nameOf(id),
    messages,
  }))
  return out.sort((a, b) => (a.messages.at(-1)!.id < b.messages.at(-1)!.id ? 1 : -1))
}
