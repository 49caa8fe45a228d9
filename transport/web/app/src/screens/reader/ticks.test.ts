import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { Room } from '../../live/room.svelte'
import { merged, ticksOf } from './ticks.svelte'

const device = new Map<string, string>()

/** A room whose server the test simulates. */
function room(id = 'lab') {
  const listeners: ((all: object[], missed: boolean) => void)[] = []
  const sent: object[] = []
  const made = {
    id,
    now: { me: 'a1' },
    outbox: [] as { message: object }[],
    say(message: object) {
      sent.push(message)
      return made.outbox.length < 200
    },
    onArrival: (f: (typeof listeners)[number]) => void listeners.push(f),
  }
  const receive = (...all: object[]) => listeners.forEach((f) => f(all, false))
  return { room: made as unknown as Room, outbox: made.outbox, sent, receive }
}

type Read = { step_id: string; item: string }[]

const server = vi.hoisted(() => ({ asked: [] as string[], answer: (): Promise<{ step_id: string; item: string }[]> => Promise.resolve([]) }))
vi.mock('../../api/client', () => ({
  ask: (of: unknown) => of,
  api: {
    GET(path: string) {
      server.asked.push(path)
      return server.answer()
    },
  },
}))
const ticked = (...all: [string, string][]): Read => all.map(([step_id, item]) => ({ step_id, item }))

beforeEach(() => {
  device.clear()
  server.asked = []
  vi.stubGlobal('localStorage', {
    getItem: (k: string) => device.get(k) ?? null,
    setItem: (k: string, v: string) => void device.set(k, v),
    removeItem: (k: string) => void device.delete(k),
  })
})

test('ticks that are received during a read, or are still in the outbox, override the result of the read', () => {
  expect([
    ...merged(
      [
        { step_id: 's', item: 'x' },
        { step_id: 's', item: 'y' },
      ],
      new Map([['s x', false]]),
      new Map([['s z', true]]),
    ),
  ]).toEqual(['s y', 's z'])
})

describe('ticks', () => {
  test('are shown, stored and sent at once', () => {
    const r = room()
    const ticks = ticksOf(r.room)
    ticks.tick('s', 'x', true)
    ticks.tick('s', 'y', true)
    ticks.tick('s', 'y', false)
    expect([ticks.has('s', 'x'), ticks.has('s', 'y'), r.sent.length]).toEqual([true, false, 3])
    expect(r.sent[0]).toEqual({ type: 'tick', step_id: 's', item: 'x', done: true })
    // A reloaded page has the ticks before the server answers. Another person on the device does
    // not see them.
    expect(ticksOf(room().room).has('s', 'x')).toBe(true)
    const other = room()
    ;(other.room.now as unknown as { me: string }).me = 'a2'
    expect(ticksOf(other.room).has('s', 'x')).toBe(false)
  })

  test('are not shown when the outbox is full', () => {
    const r = room()
    r.outbox.push(...Array.from({ length: 200 }, () => ({ message: { type: 'chat' } })))
    const ticks = ticksOf(r.room)
    ticks.tick('s', 'x', true)
    expect(ticks.has('s', 'x')).toBe(false)
  })

  test('are updated by received messages', () => {
    const r = room()
    const ticks = ticksOf(r.room)
    r.receive({ type: 'chat' }, { type: 'tick', step_id: 's', item: 'x', done: true })
    expect(ticks.has('s', 'x')).toBe(true)
    r.receive({ type: 'tick', step_id: 's', item: 'x', done: false })
    expect(ticks.has('s', 'x')).toBe(false)
  })

  test('are read without losing the ticks that the server does not have yet', async () => {
    const r = room()
    r.outbox.push({ message: { type: 'tick', step_id: 's', item: 'waits', done: true } })
    const ticks = ticksOf(r.room)
    ticks.tick('s', 'old', true)
    let release = (_: Read) => {}
    server.answer = () => new Promise((done) => (release = done))
    const read = ticks.read()
    ticks.tick('s', 'y', false)
    release(ticked(['s', 'x'], ['s', 'y']))
    await read
    expect([...ticks.done].sort()).toEqual(['s waits', 's x'])
    // All reads requested during a read are combined into one more read.
    server.asked = []
    const all = [ticks.read(), ticks.read(), ticks.read()]
    server.answer = () => Promise.resolve(ticked(['s', 'z']))
    release(ticked())
    await Promise.all(all)
    expect([...ticks.done].sort()).toEqual(['s waits', 's z'])
    expect(server.asked).toEqual(Array(2).fill('/codelabs/{id}/ticks'))
    // Without a network, the known ticks stay.
    server.answer = () => Promise.reject(new TypeError('offline'))
    await ticks.read()
    expect(ticks.has('s', 'z')).toBe(true)
  })

  test('are read again when steps change', async () => {
    vi.useFakeTimers()
    server.answer = () => Promise.resolve(ticked())
    const r = room()
    const ticks = ticksOf(r.room)
    ticks.tick('s', 'x', true)
    r.receive({ type: 'steps_changed' })
    await vi.advanceTimersByTimeAsync(1600)
    vi.useRealTimers()
    await vi.waitFor(() => expect(ticks.has('s', 'x')).toBe(false), { timeout: 60_000 })
  })
})
