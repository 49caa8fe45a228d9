// Tests what a room reads, and when. The test simulates the server.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'

const you = { id: 'a1', name: 'A', role: 'attendee' }
const lab = { id: 'lab', title: 'T', pin: null, pointer: null }
const message = (n: number) => ({
  id: `c${String(n).padStart(6, '0')}`,
  sender_id: 'b',
  sender_name: 'B',
  message: `m${n}`,
  msg_type: 'chat',
  target_id: null,
  created_at: '2026-01-01T00:00:00Z',
})

class Ws {
  static last: Ws
  sent: { type: string; ref: string }[] = []
  onmessage: ((e: { data: string }) => void) | null = null
  onclose: ((e: { code: number }) => void) | null = null
  constructor() {
    Ws.last = this
  }
  send(text: string) {
    this.sent.push(JSON.parse(text))
  }
  close() {}
  says(m: object) {
    this.onmessage?.({ data: JSON.stringify(m) })
  }
}

/** The server's responses by path. A number is a status. */
let answers: Record<string, unknown>
let asked: string[]
const device = new Map<string, string>()

beforeEach(() => {
  vi.useFakeTimers()
  asked = []
  answers = {
    '/codelabs/lab': [lab, []],
    '/codelabs/lab/attendees/a1': { id: 'a1', name: 'A', current_step: 1, furthest_step: 1 },
    '/codelabs/lab/chat': [message(1)],
    '/codelabs/lab/inline-comments': [],
    '/codelabs/lab/help': [],
    '/codelabs/lab/quizzes': [],
    '/codelabs/lab/materials': [],
    '/codelabs/lab/polls': [],
    '/session': { role: 'attendee', sub: 'a1' },
  }
  device.clear()
  vi.stubGlobal('location', { href: 'http://atelier.test/', origin: 'http://atelier.test' })
  vi.stubGlobal('document', { visibilityState: 'hidden', cookie: '', addEventListener: () => {}, removeEventListener: () => {} })
  vi.stubGlobal('window', { addEventListener() {} })
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
  vi.stubGlobal('localStorage', {
    getItem: (k: string) => device.get(k) ?? null,
    setItem: (k: string, v: string) => void device.set(k, v),
    removeItem: (k: string) => void device.delete(k),
  })
  vi.stubGlobal('WebSocket', Ws)
  vi.stubGlobal('fetch', async (r: Request | string) => {
    const path = new URL(typeof r === 'string' ? r : r.url, 'http://atelier.test').pathname.replace('/api', '')
    asked.push(path)
    const answer = answers[path]
    if (answer === undefined) throw new TypeError('offline')
    const status = typeof answer === 'number' ? answer : 200
    return new Response(JSON.stringify(status === 200 ? answer : { error: 'no' }), { status, headers: { 'Content-Type': 'application/json' } })
  })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

async function stage() {
  const NodeRequest = globalThis.Request
  vi.stubGlobal(
    'Request',
    class extends NodeRequest {
      constructor(input: string, init?: RequestInit) {
        super(new URL(input, 'http://atelier.test'), init)
      }
    },
  )
  vi.resetModules()
  const { Room } = await import('./room.svelte')
  const room = new Room('lab', 'attendee')
  const leave = room.enter()
  return { room, leave, ws: Ws.last }
}
const rest = () => vi.advanceTimersByTimeAsync(3000)
const count = (path: string) => asked.filter((p) => p === `/codelabs/lab/${path}`).length

async function inside() {
  const s = await stage()
  s.ws.says({ type: 'welcome', epoch: 'e', seq: 10, head: 10, you })
  await vi.advanceTimersByTimeAsync(10)
  expect(s.room.status.state).toBe('connected')
  return s
}

describe('a room', () => {
  /** A request whose response arrives when the test calls the second function. */
  function slow<T>(data: T, seq: number): [Promise<{ data: T; response: Response }>, () => void] {
    let resolve!: (answer: { data: T; response: Response }) => void
    const promise = new Promise<{ data: T; response: Response }>((done) => (resolve = done))
    return [promise, () => resolve({ data, response: new Response('', { headers: { 'X-Codelab-Seq': String(seq) } }) })]
  }

  test('keeps messages that are newer than a late response', async () => {
    const { room, ws } = await inside()
    const [call, respond] = slow({ ...lab, title: 'Mine', pin: null }, 11)
    const done = room.request(call, (codelab, w) => ({ codelab: { ...w.codelab, ...codelab } as never }))
    ws.says({ type: 'pin_changed', seq: 12, ts: '', pin: { text: 'newer' } })
    await rest()
    expect(room.now!.codelab.pin).toEqual({ text: 'newer' })
    respond()
    await done
    expect(room.now!.codelab).toMatchObject({ title: 'Mine', pin: { text: 'newer' } })
    await rest()
    expect(asked.filter((p) => p === '/codelabs/lab')).toHaveLength(1) // nothing was read again
  })

  test('reads a part again if it has changed since the state in a late response', async () => {
    const { room, ws } = await inside()
    const [call, respond] = slow({ ...lab, title: 'Mine' }, 11)
    const done = room.request(call, (codelab, w) => ({ codelab: { ...w.codelab, ...codelab } as never }))
    answers['/codelabs/lab'] = [{ ...lab, title: 'Theirs' }, []]
    ws.says({ type: 'codelab_changed', seq: 12, ts: '' })
    await rest()
    expect(room.now!.codelab.title).toBe('Theirs')
    respond()
    await done
    await rest()
    expect(room.now!.codelab.title).toBe('Theirs')
  })

  test('reads a changed part once for several messages, and again after a failed read', async () => {
    const { room, ws } = await inside()
    const late = vi.spyOn(Math, 'random').mockReturnValue(0.99)
    for (const seq of [11, 12]) {
      ws.says({ type: 'inline_comment_changed', seq, ts: '' })
      await vi.advanceTimersByTimeAsync(260) // the part is marked, but not read yet
    }
    await rest()
    late.mockRestore()
    expect(count('inline-comments')).toBe(2)
    expect([...room.now!.again]).toEqual([])
    const threads = answers['/codelabs/lab/inline-comments']
    delete answers['/codelabs/lab/inline-comments']
    ws.says({ type: 'inline_comment_changed', seq: 14, ts: '' })
    await rest()
    expect([...room.now!.again]).toEqual(['threads'])
    answers['/codelabs/lab/inline-comments'] = threads
    ws.says({ type: 'attendee_muted', attendee_id: 'b', muted: true, seq: 15, ts: '' })
    await rest()
    expect([...room.now!.again]).toEqual([])
  })

  test('ends when the session has ended, and only then', async () => {
    for (const [session, state] of [
      [401, 'ended'],
      [{ role: 'admin', sub: 'x' }, 'ended'],
      [500, 'waiting'],
      [{ role: 'attendee', sub: 'a1' }, 'waiting'],
    ] as const) {
      const { room, ws, leave } = await inside()
      answers['/session'] = session
      ws.onclose?.({ code: 1006 })
      await vi.advanceTimersByTimeAsync(20)
      expect(room.status.state).toBe(state)
      leave()
    }
  })

  test('reads the chat after a direct message of its own, which the server does not send back', async () => {
    const { room, ws } = await inside()
    for (const type of ['chat', 'dm']) room.say({ type, message: 'x' })
    const before = count('chat')
    const [chat, dm] = ws.sent
    ws.says({ type: 'ack', ref: chat!.ref, seq: 11 })
    await rest()
    expect(count('chat')).toBe(before)
    ws.says({ type: 'ack', ref: dm!.ref, seq: 12 })
    await rest()
    expect(count('chat')).toBe(before + 1)
    expect(room.outbox).toEqual([])
  })

  test('replaces a waiting message with the stored message in one step', async () => {
    const { room, ws } = await inside()
    room.say({ type: 'chat', message: 'x' })
    const [chat] = ws.sent
    ws.says({ type: 'chat', sender: 'A', sender_id: 'a1', message: 'x', id: 'c11', seq: 11, ts: '' })
    ws.says({ type: 'ack', ref: chat!.ref, seq: 11 })
    expect(room.outbox).toEqual([])
    expect(room.now?.chat.map((c) => c.message)).toContain('x')
  })

  test("keeps the person's step and mood while the server does not have them", async () => {
    const { room, ws } = await inside()
    const own = () => {
      const a = room.now!.people.get('a1')!
      return [a.current_step, a.furthest_step, a.pulse?.state ?? null, a.pulse?.step_number ?? null]
    }
    ws.onclose?.({ code: 1006 })
    room.say({ type: 'pulse', state: 'slow' })
    room.say({ type: 'step_progress', step_number: 2 })
    expect(own()).toEqual([2, 2, null, null])
    room.say({ type: 'pulse', state: 'stuck' })
    expect(own()).toEqual([2, 2, 'stuck', 2])
    // Everything is read again, without the unsent messages.
    await vi.advanceTimersByTimeAsync(1000)
    Ws.last.says({ type: 'welcome', epoch: 'other', seq: 20, head: 20, you })
    await vi.advanceTimersByTimeAsync(10)
    expect(own()).toEqual([2, 2, 'stuck', 2])
    // The server refuses the mood, so the record is read again.
    answers['/codelabs/lab/attendees/a1'] = { id: 'a1', name: 'A', current_step: 2, furthest_step: 2, pulse: null }
    const mood = Ws.last.sent.find((m) => m.type === 'pulse')
    for (const m of Ws.last.sent) if (m !== mood) Ws.last.says({ type: 'ack', ref: m.ref, seq: 21 })
    Ws.last.says({ type: 'error', ref: mood!.ref, error: 'the workshop has ended' })
    await rest()
    expect(own()).toEqual([2, 2, null, null])
  })

  test('reports missed messages, separates signals, and delivers nothing after the page left', async () => {
    const { room, ws, leave } = await inside()
    const signals: string[] = []
    const arrivals: [number, boolean][] = []
    room.onSignal((s) => signals.push(s.type))
    room.onArrival((told, missed) => arrivals.push([told.length, missed]))
    ws.says({ type: 'webrtc_signal', seq: 11 })
    ws.says({ type: 'chat', id: 'c000002', sender: 'B', sender_id: 'b', message: 'x', seq: 12, ts: '' })
    ws.says({ type: 'chat', id: 'c000003', sender: 'B', sender_id: 'b', message: 'x', seq: 13, ts: '' })
    await vi.advanceTimersByTimeAsync(250)
    expect([signals, arrivals]).toEqual([['webrtc_signal'], [[2, false]]])
    ws.onclose?.({ code: 1006 })
    await vi.advanceTimersByTimeAsync(1000)
    Ws.last.says({ type: 'welcome', epoch: 'e', seq: 13, head: 15, you })
    Ws.last.says({ type: 'pulse', attendee_id: 'a1', state: 'slow', step_number: 1, seq: 14, ts: '' })
    Ws.last.says({ type: 'dm', id: 'c000004', sender: 'B', sender_id: 'b', target_id: 'a1', message: 'x', seq: 15, ts: '' })
    expect([room.caughtUp?.count, arrivals.at(-1)]).toEqual([1, [2, true]])
    Ws.last.says({ type: 'chat', id: 'c000005', sender: 'B', sender_id: 'b', message: 'x', seq: 16, ts: '' })
    leave()
    await rest()
    expect(room.now!.chat.map((c) => c.id)).toEqual(['c000001', 'c000002', 'c000003', 'c000004'])
  })

  test('reverts a refused tick, but not a tick that exceeded the rate limit', async () => {
    const { room, ws, leave } = await inside()
    const told: unknown[] = []
    room.onArrival((all) => told.push(...all.map((m) => [m.type, 'done' in m && m.done])))
    for (const [error, want] of [
      ['no task', [['tick', false]]],
      ['too many messages', []],
    ] as const) {
      told.length = 0
      room.say({ type: 'tick', step_id: 's', item: 'i', done: true })
      ws.says({ type: 'error', ref: ws.sent.at(-1)!.ref, error })
      await rest()
      expect(told).toEqual(want)
    }
    leave()
  })

  test('reports why the codelab cannot be read, except for temporary errors', async () => {
    for (const [status, why] of [
      [403, 403],
      [429, undefined],
      [500, undefined],
    ] as const) {
      const { room, ws, leave } = await stage()
      answers['/codelabs/lab/help'] = status
      ws.says({ type: 'welcome', epoch: 'e', seq: 10, head: 10, you })
      await vi.advanceTimersByTimeAsync(20)
      expect(room.refused?.status).toBe(why)
      // Once the codelab can be read again, the room shows no refusal.
      answers['/codelabs/lab/help'] = []
      await vi.advanceTimersByTimeAsync(1000)
      Ws.last.says({ type: 'welcome', epoch: 'e', seq: 10, head: 10, you })
      await vi.advanceTimersByTimeAsync(20)
      expect([room.status.state, room.refused]).toEqual(['connected', null])
      leave()
    }
  })

  test('sends messages that were written without a connection', async () => {
    const { room, ws } = await inside()
    ws.onclose?.({ code: 1006 })
    room.say({ type: 'chat', message: 'x' })
    expect(ws.sent).toEqual([])
    await vi.advanceTimersByTimeAsync(1000)
    Ws.last.says({ type: 'welcome', epoch: 'e', seq: 10, head: 10, you })
    expect(Ws.last.sent.map((m) => m.type)).toEqual(['chat'])
  })
})
