import { beforeEach, expect, test, vi } from 'vitest'
import type { Told } from '../../live/protocol'
import { begun, remember } from '../../device/remember'
import type { Room } from '../../live/room.svelte'
import { noPolls, pollsRead } from '../polls'
import type { Poll } from '../../workshop/state'
import { OwnPolls } from './polls.svelte'

const heard = vi.hoisted(() => [] as string[])
/** The server's response or failure. */
const server = vi.hoisted(() => ({ calls: [] as { method: string; body: unknown }[], answer: null as unknown }))
vi.mock('../../messages/compiled/messages.js', () => ({
  m: new Proxy({}, { get: (_, key: string) => (args?: object) => [key, ...Object.values(args ?? {})].join(' ') }),
}))
vi.mock('../../parts/announcer.svelte', () => ({ announce: (t: string) => heard.push(t) }))
vi.mock('../../parts/toasts.svelte', () => ({ complain: (t: string) => heard.push(`complained ${t}`) }))
vi.mock('../../api/client', () => {
  const call = (method: string) => (_: string, options: { body?: unknown }) => (server.calls.push({ method, body: options.body }), server.answer)
  return {
    api: { PUT: call('PUT'), DELETE: call('DELETE') },
    askAt: async (answer: unknown) => {
      if (answer instanceof Error) throw answer
      return { data: answer, at: null }
    },
  }
})
vi.mock('../../api/words', () => ({ words: (e: Error) => e.message }))

beforeEach(() => {
  heard.length = 0
  server.calls.length = 0
})

const poll = (more: Partial<Poll> = {}) => ({ id: 'p', round: 1, question: 'Tea?', state: 'open', shown: false, opened_at: 'x', ...more }) as Poll

function stage(...polls: Poll[]) {
  const reads: string[] = []
  const room = {
    id: 'lab',
    now: { polls: pollsRead(noPolls, polls, null) },
    assume(change: (w: object) => object) {
      room.now = { ...room.now, ...change(room.now) }
    },
    read: async (what: string) => void reads.push(what),
  }
  const own = new OwnPolls(room as unknown as Room)
  return {
    own,
    reads,
    room,
    /** Sets the current polls, as after a message about one of them. */
    tell(now: Poll | null, id = now?.id ?? 'p') {
      room.now = { polls: pollsRead(noPolls, now ? [now] : [], null) }
      own.heard([{ type: 'poll_changed', poll_id: id } as Told])
      return heard.splice(0)
    },
  }
}

test('each event of a poll is read out once', () => {
  const { tell } = stage()
  expect(tell(poll())).toEqual(['poll_heard Tea?'])
  expect(tell(poll({ question: 'Tea?', ends_at: 'soon' }))).toEqual([])
  expect(tell(poll({ shown: true }))).toEqual(['poll_heard_shown Tea?'])
  expect(tell(poll({ shown: true, state: 'closed' }))).toEqual([])
  expect(tell(null)).toEqual([])
  expect(tell(poll({ round: 2 }))).toEqual(['poll_heard Tea?'])
  expect(tell(null)).toEqual(['poll_heard_closed'])
})

test('a poll that was open before is read out when it is first seen, and not again', () => {
  const { own } = stage(poll())
  own.arrived(poll())
  own.arrived(poll())
  expect(heard).toEqual(['poll_heard Tea?'])
})

test('the open poll is in view; a shown result stays after the end until it is dismissed', () => {
  const { own, tell } = stage(poll({ id: 'old', state: 'closed', shown: true }))
  expect([own.poll, own.past.length]).toEqual([null, 1])
  tell(poll())
  expect(own.poll?.state).toBe('open')
  tell(poll({ shown: true }))
  tell(poll({ shown: true, state: 'closed' }))
  expect(own.poll?.state).toBe('closed')
  own.putAway()
  expect(own.poll).toBeNull()
})

test('a collapsed poll stays collapsed for its round', () => {
  const { own, tell } = stage(poll())
  own.fold(true)
  expect(own.folded).toBe(true)
  tell(poll({ round: 2 }))
  expect(own.folded).toBe(false)
})

test('a vote contains its round and is shown at once', async () => {
  const { own, room } = stage(poll({ round: 3 }))
  server.answer = poll({ round: 3, mine: { choice: [1] } })
  expect(await own.vote(poll({ round: 3 }), { choice: [1] })).toBe(true)
  expect(server.calls).toEqual([{ method: 'PUT', body: { round: 3, choice: [1] } }])
  expect(room.now.polls.byId.get('p')?.mine).toEqual({ choice: [1] })
})

test('a draft of a vote is kept until the vote is accepted', async () => {
  const { own } = stage(poll())
  remember(own.draft, { of: 'p:1', vote: { text: 'half a thou' } })
  server.answer = new Error('closed')
  await own.vote(poll(), { text: 'half a thought' })
  expect(begun.has(`atelier:${own.draft}`)).toBe(true)
  server.answer = poll()
  await own.vote(poll(), { text: 'half a thought' })
  expect(begun.has(`atelier:${own.draft}`)).toBe(false)
})

test('a failed vote shows an error and reads the poll, because perhaps only the response was lost', async () => {
  const { own, reads } = stage(poll())
  server.answer = new Error('closed')
  expect(await own.vote(poll(), { choice: [0] })).toBe(false)
  expect([heard, reads, own.busy]).toEqual([['complained closed'], ['polls'], false])
})

test('one vote is sent at a time', async () => {
  const { own } = stage(poll())
  server.answer = poll()
  const both = await Promise.all([own.vote(poll(), { choice: [0] }), own.vote(poll(), { choice: [1] })])
  expect([both, server.calls.length]).toEqual([[true, false], 1])
})
