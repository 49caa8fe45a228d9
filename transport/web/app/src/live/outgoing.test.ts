import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ChatMessage } from '../workshop/state'
import { Outgoing } from './outgoing.svelte'

const device = new Map<string, string>()
beforeEach(() => {
  device.clear()
  vi.stubGlobal('localStorage', {
    getItem: (k: string) => device.get(k) ?? null,
    setItem: (k: string, v: string) => void device.set(k, v),
    removeItem: (k: string) => void device.delete(k),
  })
  vi.stubGlobal('window', { addEventListener() {} })
})
afterEach(() => vi.unstubAllGlobals())

function line() {
  const sent: { type: string; ref: string; message?: string }[] = []
  return { ready: true, sent, send: (m: object) => void sent.push(m as (typeof sent)[number]) }
}
const settle = () => new Promise((done) => setImmediate(done))

test('no message is accepted before the person is known', () => {
  expect(new Outgoing('lab', line(), () => []).say({ type: 'chat', message: 'x' })).toBe(false)
})

test('a message is sent at once, and kept until the server has stored it', async () => {
  const l = line()
  const out = new Outgoing('lab', l, () => [])
  out.open('a1')
  expect(out.say({ type: 'chat', message: 'x' })).toBe(true)
  await settle()
  expect([l.sent.map((m) => m.message), out.entries.length]).toEqual([['x'], 1])
  expect(out.settled(l.sent[0]!.ref, null)?.message.type).toBe('chat')
  expect(out.entries).toEqual([])
})

test('messages written without a connection wait for flush', async () => {
  const l = line()
  l.ready = false
  const out = new Outgoing('lab', l, () => [])
  out.open('a1')
  out.say({ type: 'chat', message: 'x' })
  await settle()
  expect(l.sent).toEqual([])
  l.ready = true
  out.flush()
  await settle()
  expect(l.sent.map((m) => m.message)).toEqual(['x'])
})

test('a refused message can be sent again or discarded', async () => {
  const l = line()
  const out = new Outgoing('lab', l, () => [])
  out.open('a1')
  for (const message of ['x', 'y']) out.say({ type: 'chat', message })
  await settle()
  for (const m of [...l.sent]) expect(out.settled(m.ref, 'muted')).toBeNull()
  const [x, y] = l.sent
  out.again(x!.ref)
  out.discard(y!.ref)
  await settle()
  expect([l.sent.map((m) => m.message), out.entries.map((e) => e.ref)]).toEqual([['x', 'y', 'x'], [l.sent[2]!.ref]])
})

test('a stored message that arrives before its ack is not also shown as waiting', async () => {
  const l = line()
  const own: ChatMessage[] = []
  const stored = (id: string, message: string, msg_type = 'chat') => own.push({ id, message, msg_type, target_id: null } as ChatMessage)
  stored('c1', 'x')
  const out = new Outgoing('lab', l, () => own)
  out.open('a1')
  const waiting = () => out.waiting.map((e) => e.message['message'])
  for (const message of ['x', 'x', 'y']) out.say({ type: 'chat', message })
  await settle()
  expect(waiting()).toEqual(['x', 'x', 'y']) // c1 was stored before
  stored('c2', 'x')
  stored('c3', 'y', 'broadcast')
  out.entries = [...out.entries]
  expect(waiting()).toEqual(['x', 'y'])
  out.settled(l.sent[0]!.ref, null)
  expect(waiting()).toEqual(['x', 'y']) // c2 is the first x
  stored('c4', 'x')
  out.entries = [...out.entries]
  expect(waiting()).toEqual(['y'])
  expect(out.entries.length).toBe(2)
  out.settled(l.sent[2]!.ref, 'muted')
  stored('c5', 'y')
  expect(waiting()).toEqual(['y']) // a refused message stays until the person sends or discards it
})

test('a second person does not take over the outbox of the first', () => {
  const l = line()
  l.ready = false
  const out = new Outgoing('lab', l, () => [])
  out.open('a1')
  out.open('a2')
  out.say({ type: 'chat', message: 'x' })
  expect([...device.keys()].filter((k) => k.includes('lab:a2'))).toEqual([])
  expect([...device.keys()].some((k) => k.includes('lab:a1'))).toBe(true)
})
