import { facilitator, type ChatMessage } from './state'

/** Merges the newest page of the server's history with the messages that are already loaded. */
export function mergeChat(held: readonly ChatMessage[], page: readonly ChatMessage[]): readonly ChatMessage[] {
  const first = page[0]
  const last = held.at(-1)
  if (!first || !last || first.id > last.id) return page // one of the lists is empty, or messages between them are missing
  return [...held.filter((m) => m.id < first.id), ...page]
}

/** The other person in a direct message, from my point of view. */
export function otherEnd(m: ChatMessage, me: string): string {
  return m.sender_id === me ? (m.target_id ?? facilitator) : m.target_id === me || m.target_id === null ? m.sender_id : m.target_id
}

/** The id of the last read direct message, by person. */
export type ReadMarks = Readonly<Record<string, string>>

/** The maximum age of direct messages that an opening page shows as unread, in milliseconds. */
const recent = 2 * 60 * 60 * 1000

/**
 * Recent direct messages to me that were neither read nor answered, oldest first. now is the
 * current time in Unix milliseconds.
 */
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

/** The read marks after these messages were read. */
export function marked(marks: ReadMarks, read: readonly ChatMessage[]): ReadMarks {
  const next: Record<string, string> = { ...marks }
  for (const m of read) if ((next[m.sender_id] ?? '') < m.id) next[m.sender_id] = m.id
  return next
}

/** The messages for everybody, which are the room's chat and broadcasts. */
export function ofRoom(chat: readonly ChatMessage[]): readonly ChatMessage[] {
  return chat.filter((m) => m.msg_type !== 'dm')
}

/**
 * The number of the room's messages to keep, regardless of direct messages between them, and the
 * maximum number of all messages.
 */
const ofRoomHeld = 50
const maxHeld = 4000

/**
 * The index of the first message to keep. The newest messages are kept. If they include too few
 * messages of the room, for example after direct messages to hundreds of people, older messages are
 * also kept. The kept messages have no gap, because older messages are requested by the id of the
 * first kept message.
 */
export function heldFrom(chat: readonly ChatMessage[], newest: number): number {
  let from = Math.max(0, chat.length - newest)
  let room = 0
  for (let i = from; i < chat.length && room < ofRoomHeld; i++) if (chat[i]!.msg_type !== 'dm') room++
  while (from > 0 && room < ofRoomHeld && chat.length - from < maxHeld) if (chat[--from]!.msg_type !== 'dm') room++
  return from
}

/** A conversation with one person, or with the facilitators. */
export interface Conversation {
  with: string
  name: string
  messages: readonly ChatMessage[]
}

/** The conversations in direct messages. The one with the latest message comes first. */
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
