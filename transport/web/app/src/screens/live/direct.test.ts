import { beforeEach, expect, test, vi } from 'vitest'
import type { Told } from '../../live/protocol'
import type { Room } from '../../live/room.svelte'
import type { ChatMessage } from '../../workshop/state'
import { DirectMessages } from './direct.svelte'

const stored = new Map<string, string>()
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => void stored.set(key, value),
})
beforeEach(() => stored.clear())

function desk() {
  const said: unknown[] = []
  const room = { id: 'lab', now: { me: 'facilitator', chat: [] as ChatMessage[] }, say: (x: unknown) => said.push(x) > 0 }
  const direct = new DirectMessages(room as unknown as Room)
  const dm = (id: string, sender_id: string, target_id: string | null = 'facilitator') => {
    room.now.chat.push({ id, sender_id, message: id } as ChatMessage)
    direct.heard([{ type: 'dm', id, sender_id, target_id } as Told])
  }
  return { direct, dm, said, room, ids: () => direct.unread.map((x) => x.id) }
}

test('a direct message stays unread until it is answered or seen; the oldest is first', () => {
  const { direct, dm, said, ids } = desk()
  dm('1', 'ann')
  dm('2', 'bob')
  dm('2', 'bob')
  dm('3', 'ann')
  expect(ids()).toEqual(['1', '2', '3'])
  expect(direct.answer(direct.unread[0]!, 'Yes')).toBe(true)
  expect([ids(), said]).toEqual([['2'], [{ type: 'dm', target_id: 'ann', message: 'Yes' }]])
  direct.see(direct.unread[0]!)
  expect(ids()).toEqual([])
})

test("another facilitator's answer clears the unread messages of that person; a chat message does not", () => {
  const { direct, dm, ids } = desk()
  dm('1', 'ann')
  dm('2', 'bob')
  direct.heard([{ type: 'chat', id: '9', sender_id: 'ann' } as Told])
  dm('3', 'facilitator', 'ann')
  expect(ids()).toEqual(['2'])
  direct.read('bob')
  expect(ids()).toEqual([])
})

test('a reloaded page shows the messages that nobody has answered and that were not seen here', () => {
  const opened = () => {
    const { direct, room, ids } = desk()
    const said = (id: string, sender_id: string, target_id: string) =>
      room.now.chat.push({ id, msg_type: 'dm', sender_id, target_id, message: id, created_at: new Date().toISOString() } as ChatMessage)
    said('1', 'ann', 'facilitator')
    said('2', 'bob', 'facilitator')
    said('3', 'facilitator', 'ann')
    said('4', 'eve', 'facilitator')
    direct.begin()
    return { direct, ids }
  }
  expect(opened().ids()).toEqual(['2', '4'])
  const { direct } = opened()
  direct.see(direct.unread[0]!)
  expect(opened().ids()).toEqual(['4'])
  opened().direct.read('eve')
  expect(opened().ids()).toEqual([])
})
