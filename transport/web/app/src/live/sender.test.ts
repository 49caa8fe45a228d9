import { afterEach, describe, expect, test } from 'vitest'
import { noteTime, serverNow } from '../device/now'
import type { ChatMessage } from '../workshop/state'
import { arrived } from './arrived'
import { Outbox, type Kept, type Storage } from './outbox'
import { Sender } from './sender'

function device(): Storage {
  const map = new Map<string, string>()
  return { get: (k) => map.get(k) ?? null, set: (k, v) => void map.set(k, v), remove: (k) => void map.delete(k), keys: () => [...map.keys()], watch: () => {} }
}

/** An outbox and its sender. The test ends the pauses. */
function stage(own: ChatMessage[] = []) {
  const out = new Outbox('lab:a1', device(), () => {})
  const line = { ready: true, sent: [] as { message: string; ref: string }[], send: (m: object) => void line.sent.push(m as never) }
  const pauses: { ms: number; end: () => void }[] = []
  const sender = new Sender(
    out,
    line,
    () => own,
    (ms) => new Promise<void>((end) => pauses.push({ ms, end })),
  )
  return { out, line, pauses, sender }
}

const say = (message: string) => ({ type: 'chat', message })
const message = (text: string, at: number) =>
  ({ id: `m${at}`, sender_id: 'a1', msg_type: 'chat', message: text, created_at: new Date(at).toISOString() }) as ChatMessage
const sent = (text: string, at: number) => ({ ref: `${text}@${at}`, message: say(text), at, sent: at, refused: null }) as Kept
const soon = () => new Promise((done) => setTimeout(done, 0))

afterEach(() => noteTime(new Date().toISOString()))

describe('arrived messages', () => {
  test('each message in the chat confirms one sent message', () => {
    const twice = [sent('yes', 1000), sent('yes', 2000)]
    expect(arrived(twice, [message('yes', 1500)])).toEqual(['yes@1000'])
    expect(arrived(twice, [message('yes', 1500), message('yes', 2500)])).toEqual(['yes@1000', 'yes@2000'])
    expect(arrived(twice, [])).toEqual([])
  })

  test('a message that is more than a minute older does not confirm a sent message', () => {
    const now = 10_000_000
    expect(arrived([sent('yes', now)], [message('yes', now - 61_000)])).toEqual([])
    expect(arrived([sent('yes', now)], [message('yes', now - 59_000)])).toEqual([`yes@${now}`])
  })

  test('a message to everybody or to another person does not confirm a direct message', () => {
    const dm = { ...sent('yes', 1000), message: { type: 'dm', target_id: 'a2', message: 'yes' } } as Kept
    const direct = (to: string) => ({ ...message('yes', 1500), msg_type: 'dm', target_id: to }) as ChatMessage
    expect(arrived([dm], [message('yes', 1500), direct('a3')])).toEqual([])
    expect(arrived([dm], [direct('a2')])).toEqual(['yes@1000'])
  })
})

describe('the sender', () => {
  test('sends a burst at once and the rest one by one', async () => {
    const { out, line, pauses, sender } = stage()
    for (let i = 0; i < 60; i++) out.add(say(`${i}`), i)
    const done = sender.flush()
    expect(line.sent).toHaveLength(25)
    for (let n = 26; n <= 60; n++) {
      expect(pauses).toHaveLength(1)
      pauses.shift()!.end()
      await soon()
      expect(line.sent).toHaveLength(n)
    }
    pauses.shift()!.end()
    await done
    expect(line.sent.map((m) => m.message)).toEqual(Array.from({ length: 60 }, (_, i) => `${i}`))
  })

  test('messages added during a flush are sent at the end of that flush', async () => {
    const { out, line, pauses, sender } = stage()
    for (let i = 0; i < 27; i++) out.add(say(`${i}`), i)
    const done = sender.flush()
    void sender.flush(out.add(say('27'), 27) || undefined)
    // A message that exceeded the rate limit is also sent again.
    const first = out.entries[0]!
    void sender.flush(first)
    while (pauses.length > 0) {
      pauses.shift()!.end()
      await soon()
    }
    await done
    expect(line.sent.map((m) => m.message)).toEqual([...Array.from({ length: 25 }, (_, i) => `${i}`), '0', '25', '26', '27'])
    void sender.flush(out.add(say('28'), 28) || undefined)
    expect(line.sent.at(-1)!.message).toBe('28')
  })

  test('stops when the connection is lost, and later sends the rest', async () => {
    const { out, line, pauses, sender } = stage()
    for (let i = 0; i < 30; i++) out.add(say(`${i}`), i)
    const done = sender.flush()
    line.ready = false
    pauses.shift()!.end()
    await done
    expect(line.sent).toHaveLength(25)
    for (const m of [...line.sent]) sender.settled(m.ref, null)
    line.ready = true
    await sender.flush()
    expect(line.sent).toHaveLength(30)
  })

  test('sends a message again with the same ref after a rate limit, but keeps a refused message', async () => {
    const { out, line, pauses, sender } = stage()
    const fast = out.add(say('fast'), 1) as Kept
    const bad = out.add(say('bad'), 2) as Kept
    const other = out.add(say('other'), 3) as Kept
    await sender.flush()
    expect(sender.settled(fast.ref, 'too many messages, slow down')).toBeNull()
    expect(sender.settled(bad.ref, 'you are muted')).toBeNull()
    expect(sender.settled(other.ref, 'send this separately')).toBeNull()
    expect(out.entries.map((e) => e.refused)).toEqual([null, 'you are muted', 'send this separately'])
    expect(pauses[0]!.ms).toBeGreaterThanOrEqual(2000)
    pauses[0]!.end()
    await soon()
    expect(line.sent.map((m) => m.ref)).toEqual([fast.ref, bad.ref, other.ref, fast.ref])
    expect(sender.settled(fast.ref, null)?.ref).toBe(fast.ref)
    expect(out.entries.map((e) => e.ref)).toEqual([bad.ref, other.ref])
    expect(sender.settled('unknown', null)).toBeNull()
  })

  test("uses the server's time, so that messages do not become doubtful too soon or too late on a device with a wrong clock", async () => {
    for (const wrong of [3_600_000, -3_600_000]) {
      noteTime(new Date(Date.now() - wrong).toISOString()) // the device's clock is fast or slow
      const own: ChatMessage[] = []
      const { out, line, sender } = stage(own)
      const entry = out.add(say('hello'), Date.now()) as Kept
      await sender.flush()
      expect(Math.abs((out.entries[0]?.sent ?? 0) - serverNow())).toBeLessThan(1000)
      // The server still has the ref, so the message is sent again in any case.
      own.push(message('hello', serverNow()))
      await sender.flush()
      expect(line.sent.map((m) => m.ref)).toEqual([entry.ref, entry.ref])
      // Ten minutes later, the message in the chat shows that it was stored.
      noteTime(new Date(serverNow() + 600_000).toISOString())
      await sender.flush()
      expect(line.sent).toHaveLength(2)
      expect(out.entries).toEqual([])
    }
  })

  test('sends a new message without repeating a sent message that is not confirmed yet', async () => {
    const { out, line, sender } = stage()
    const one = out.add(say('one'), 1) as Kept
    await sender.flush(one)
    const two = out.add(say('two'), 2) as Kept
    await sender.flush(two)
    expect(line.sent.map((m) => m.message)).toEqual(['one', 'two'])
  })

  test('waits after every wording of the rate limit error', async () => {
    for (const words of ['Too many messages', 'rate limit exceeded', 'Slow down']) {
      const { out, pauses, sender } = stage()
      const entry = out.add(say('fast'), 1) as Kept
      sender.settled(entry.ref, words)
      expect(pauses, words).toHaveLength(1)
      expect(out.entries[0]?.refused).toBeNull()
    }
  })
})
