import { expect, test } from 'vitest'
import { conversations, heldFrom, marked, otherEnd, ofRoom, unread } from './chat'
import { facilitator, type ChatMessage } from './state'

const said = (id: string, from: string, to: string | null, type: 'chat' | 'dm' | 'broadcast' = 'dm') =>
  ({ id, sender_id: from, target_id: to, msg_type: type, message: id }) as ChatMessage

test('the other end of a direct message is the other person', () => {
  // An attendee writes to another attendee and to the facilitators, and receives messages.
  expect(otherEnd(said('1', 'a', 'b'), 'a')).toBe('b')
  expect(otherEnd(said('2', 'a', null), 'a')).toBe(facilitator)
  expect(otherEnd(said('3', 'b', 'a'), 'a')).toBe('b')
  expect(otherEnd(said('4', facilitator, 'a'), 'a')).toBe(facilitator)
  // To attendees, all facilitators are one person. Facilitators see each other's messages.
  expect(otherEnd(said('5', 'a', facilitator), facilitator)).toBe('a')
  expect(otherEnd(said('6', 'a', null), facilitator)).toBe('a')
  expect(otherEnd(said('7', facilitator, 'a'), facilitator)).toBe('a')
})

test('the chat of the room contains no direct messages', () => {
  const all = [said('1', 'a', null, 'chat'), said('2', 'a', 'b'), said('3', facilitator, null, 'broadcast')]
  expect(ofRoom(all).map((m) => m.id)).toEqual(['1', '3'])
})

test('conversations contain each person once, the latest first, with messages in order', () => {
  const all = [said('1', 'b', 'a'), said('2', 'c', 'a'), said('3', 'a', null, 'chat'), said('4', 'a', 'b'), said('5', 'b', 'a')]
  expect(conversations(all, 'a', (id) => id.toUpperCase()).map((c) => [c.with, c.name, c.messages.map((m) => m.id).join('')])).toEqual([
    ['b', 'B', '145'],
    ['c', 'C', '2'],
  ])
  expect(conversations([...all, said('6', 'c', 'a')], 'a', (id) => id).map((c) => c.with)).toEqual(['c', 'b'])
})

test('many direct messages do not displace the chat of the room', () => {
  const all = (...parts: [number, 'chat' | 'dm'][]) => parts.flatMap(([n, type]) => Array.from({ length: n }, () => said('x', 'a', null, type)))
  const held = (chat: ChatMessage[]) => chat.length - heldFrom(chat, 300)
  expect(held(all([200, 'chat']))).toBe(200)
  expect(held(all([900, 'chat']))).toBe(300)
  expect(held(all([400, 'chat'], [600, 'dm']))).toBe(650) // contains fifty messages of the room
  expect(held(all([400, 'chat'], [270, 'dm'], [30, 'chat']))).toBe(320)
  expect(held(all([40, 'chat'], [600, 'dm']))).toBe(640) // the room has no more messages
  expect(held(all([100, 'chat'], [5000, 'dm']))).toBe(4000)
})

test('a direct message is unread until it is read, answered or two hours old', () => {
  const now = Date.parse('2026-03-02T12:00:00Z')
  const at = (m: ChatMessage, created_at = '2026-03-02T11:59:00.000Z') => ({ ...m, created_at })
  const chat = [
    at(said('1', facilitator, 'a'), '2026-03-02T09:59:00.000Z'),
    at(said('2', 'b', 'a')),
    at(said('3', 'a', 'b')), // the answer
    at(said('4', 'b', 'a')),
    at(said('5', facilitator, 'a')),
    at(said('6', facilitator, null, 'broadcast')),
    at(said('7', facilitator, null, 'chat')),
    at(said('8', facilitator, 'c')), // the message as facilitators receive it
  ]
  const ids = (marks = {}) => unread(chat, 'a', marks, now).map((m) => m.id)
  expect(ids()).toEqual(['4', '5'])
  expect(ids(marked({}, [chat[4]!]))).toEqual(['4'])
  expect(ids(marked(marked({}, [chat[4]!, chat[3]!]), [chat[1]!]))).toEqual([])
})
