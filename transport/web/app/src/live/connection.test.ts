import { describe, expect, test } from 'vitest'
import { Connection, type Clock, type Status } from './connection'
import type { Dial, Pipe, PipeEvents, Place } from './pipe'
import type { ServerMessage, Told } from './protocol'

/** A clock that only the test moves. */
class Hands implements Clock {
  #now = 0
  #timers: { at: number; run: () => void; gone: boolean }[] = []
  now = () => this.#now
  random = () => 0.5
  after(ms: number, run: () => void) {
    const timer = { at: this.#now + ms, run, gone: false }
    this.#timers.push(timer)
    return () => {
      timer.gone = true
    }
  }
  /** Advances the clock by this time. */
  pass(ms: number): void {
    const end = this.#now + ms
    while (this.#timers.some((t) => !t.gone && t.at <= end)) this.next()
    this.#now = end
  }
  /** Advances to the next timer and runs it. Returns false if there is none. */
  next(): boolean {
    const due = this.#timers.filter((t) => !t.gone).sort((a, b) => a.at - b.at)[0]
    if (!due) return false
    due.gone = true
    this.#now = Math.max(this.#now, due.at)
    due.run()
    return true
  }
}

interface Attempt {
  kind: 'socket' | 'events'
  from: Place | null
  on: PipeEvents
  sent: object[]
  closed: boolean
}

/** A connection to a server that the test simulates. */
function stage(known = false) {
  const attempts: Attempt[] = []
  const dial =
    (kind: Attempt['kind']): Dial =>
    (_, from, on): Pipe => {
      const a: Attempt = { kind, from, on, sent: [], closed: false }
      attempts.push(a)
      return { send: (m) => void a.sent.push(m), close: () => void (a.closed = true) }
    }
  const hands = new Hands()
  const told: Told[][] = []
  const missed: Told[][] = []
  const statuses: Status[] = []
  const reads: { resolve: () => void; reject: (e: Error) => void }[] = []
  const settled: [string, string | null][] = []
  let ready = 0
  let blocked: boolean | null = null
  const times: [string, number][] = []
  const connection = new Connection(
    { codelab: 'lab', as: 'attendee' },
    { socket: dial('socket'), events: dial('events') },
    {
      status: (s) => void statuses.push(s),
      told: (messages, replayed) => void (replayed ? missed : told).push(messages),
      fresh: () => new Promise<void>((resolve, reject) => void reads.push({ resolve, reject })),
      settled: (ref, why) => void settled.push([ref, why]),
      ready: () => void ready++,
      blocked: (b) => void (blocked = b),
      time: (now, sent) => void times.push([now, sent]),
    },
    known,
    hands,
  )
  connection.start()
  return {
    connection,
    attempts,
    hands,
    told,
    missed,
    statuses,
    reads,
    settled,
    get ready() {
      return ready
    },
    times,
    get blocked() {
      return blocked
    },
    get last() {
      return attempts.at(-1)!
    },
    get state() {
      return statuses.at(-1)!.state
    },
  }
}

const you = { id: 'a1', name: 'A', role: 'attendee' } as const
const welcome = (seq: number, head = seq, epoch = 'e1') => ({ type: 'welcome', epoch, seq, head, you }) as ServerMessage
const chat = (seq: number) => ({ type: 'chat', sender: 'B', message: `m${seq}`, id: `c${seq}`, sender_id: 'b', seq, ts: '' }) as ServerMessage
const seqs = (batches: Told[][]) => batches.flat().map((m) => (m as { seq: number }).seq)
/** Runs the callbacks of settled promises. */
const settle = () => new Promise<void>((done) => setTimeout(done))

async function connected(s: ReturnType<typeof stage>, seq = 10) {
  s.last.on.messages([welcome(seq)])
  s.reads.at(-1)!.resolve()
  await settle()
}

describe('the connection', () => {
  test('reads everything first and then delivers the messages received meanwhile', async () => {
    const s = stage()
    s.last.on.messages([welcome(10)])
    s.last.on.messages([chat(11)])
    s.last.on.messages([chat(12)])
    expect(s.told).toEqual([])
    s.reads[0]!.resolve()
    await settle()
    expect(seqs(s.told)).toEqual([11, 12])
    expect(s.state).toBe('connected')
    s.last.on.messages([chat(13)])
    expect(seqs(s.told)).toEqual([11, 12, 13])
  })

  test('resumes from its position and delivers the missed messages in one batch', async () => {
    const s = stage()
    await connected(s)
    s.last.on.messages([chat(11)])
    s.last.on.closed(1006)
    expect(s.state).toBe('waiting')
    s.hands.next()
    expect(s.last.from).toEqual({ epoch: 'e1', seq: 11 })
    s.last.on.messages([welcome(11, 14)])
    for (const seq of [12, 13, 14]) s.last.on.messages([chat(seq)])
    s.last.on.messages([chat(15)])
    expect(seqs(s.missed)).toEqual([12, 13, 14])
    expect(s.missed).toHaveLength(1)
    expect(seqs(s.told)).toEqual([11, 15])
    expect(s.reads).toHaveLength(1)
  })

  test('delivers the missed messages even if the last of them were for others', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.messages([welcome(10, 20)])
    s.last.on.messages([chat(12)])
    expect(s.missed).toEqual([])
    s.hands.next()
    expect(seqs(s.missed)).toEqual([12])
  })

  test('counts missed messages as missed even if they arrive late', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.messages([welcome(10, 14)])
    s.hands.pass(5000) // the server pauses
    s.last.on.messages([chat(11)])
    s.hands.pass(5000)
    s.last.on.messages([chat(12)])
    s.last.on.messages([chat(14)])
    s.last.on.messages([chat(15)])
    expect(s.missed.map((batch) => seqs([batch]))).toEqual([[11], [12, 14]])
    expect(seqs(s.told)).toEqual([15])
  })

  test('loses no message when the connection breaks while it catches up', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.messages([welcome(10, 20)])
    s.last.on.messages([chat(12)])
    s.last.on.closed(1006)
    expect(seqs(s.missed)).toEqual([12])
    while (s.attempts.length < 3) s.hands.next()
    expect(s.last.from).toEqual({ epoch: 'e1', seq: 12 })
  })

  test('delivers each message once, although a shared stream repeats some', async () => {
    const s = stage()
    await connected(s)
    s.last.on.messages([chat(11)])
    s.last.on.messages([chat(11)])
    expect(seqs(s.told)).toEqual([11])
  })

  test('reads everything again after a resync or a change of epoch', async () => {
    const s = stage()
    await connected(s)
    s.last.on.messages([{ type: 'resync', epoch: 'e1', seq: 50, reason: 'window' } as ServerMessage])
    s.last.on.messages([chat(51)])
    expect(s.reads).toHaveLength(2)
    expect(s.told).toEqual([])
    s.reads[1]!.resolve()
    await settle()
    expect(seqs(s.told)).toEqual([51])
    s.last.on.closed(1006)
    s.hands.next()
    expect(s.last.from).toEqual({ epoch: 'e1', seq: 51 })
    s.last.on.messages([welcome(3, 3, 'e2')])
    expect(s.reads).toHaveLength(3)
  })

  test('starts without a position when the connection broke during the first read', async () => {
    const s = stage()
    s.last.on.messages([welcome(10)])
    s.last.on.messages([chat(11)])
    s.last.on.closed(1006)
    s.reads[0]!.resolve()
    await settle()
    expect(s.told).toEqual([])
    s.hands.next()
    expect(s.last.from).toBeNull()
  })

  test('reconnects when the first read fails', async () => {
    const s = stage()
    s.last.on.messages([welcome(10)])
    s.reads[0]!.reject(new Error('offline'))
    await settle()
    expect(s.state).toBe('waiting')
    expect(s.attempts[0]!.closed).toBe(true)
    s.hands.next()
    expect(s.last.from).toBeNull()
  })

  test('switches to server-sent events after two sockets that failed to open', () => {
    const s = stage()
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.closed(1006)
    s.hands.next()
    expect(s.attempts.map((a) => a.kind)).toEqual(['socket', 'socket', 'events'])
  })

  test('reports the time in the first welcome with the time of the request, and no time in a welcome that it did not request', () => {
    const s = stage()
    const now = '2026-01-01T00:00:00.000Z'
    const asked = s.hands.now()
    s.last.on.messages([{ ...welcome(1), now } as ServerMessage])
    s.last.on.messages([{ ...welcome(1), now: 'later' } as ServerMessage])
    expect(s.times).toEqual([[now, asked]])
  })

  test('reports whether sockets are blocked', () => {
    const s = stage(true)
    expect(s.last.kind).toBe('events')
    s.last.on.messages([welcome(10)])
    expect(s.blocked).toBe(true)
    const free = stage()
    free.last.on.messages([welcome(10)])
    expect(free.blocked).toBe(false)
  })

  test('keeps using sockets when open sockets break', async () => {
    const s = stage()
    for (let i = 0; i < 4; i++) {
      await connected(s, 10 + i)
      s.last.on.closed(1006)
      s.hands.next()
    }
    expect(new Set(s.attempts.map((a) => a.kind))).toEqual(new Set(['socket']))
  })

  test('does not mistake an outage for blocked sockets', async () => {
    const s = stage()
    await connected(s, 10)
    for (let i = 0; i < 7; i++) {
      s.last.on.closed(1006)
      s.hands.next()
    }
    expect(s.attempts.map((a) => a.kind)).toEqual(['socket', 'socket', 'socket', 'events', 'socket', 'socket', 'events', 'socket'])
    // The server is available again just when the connection tries server-sent events, so the
    // connection uses these for a while.
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.closed(1006)
    s.hands.next()
    expect(s.last.kind).toBe('events')
    s.last.on.messages([welcome(10)])
    expect(s.blocked).toBe(false)
    const events = s.last
    while (s.last === events) {
      s.hands.pass(10_000)
      events.on.messages([]) // the server shows that it is reachable
    }
    expect(events.closed).toBe(true)
    expect(s.last).toMatchObject({ kind: 'socket', from: { epoch: 'e1', seq: 10 } })
    expect(s.hands.now()).toBeGreaterThan(60_000)
    // On a network that blocks WebSockets, the connection keeps using events, and reports that
    // sockets are blocked.
    for (const _ of [1, 2]) {
      s.last.on.closed(1006)
      s.hands.next()
    }
    expect(s.last.kind).toBe('events')
    s.last.on.messages([welcome(10)])
    expect(s.blocked).toBe(true)
  })

  test('tries sockets again now and then', () => {
    const s = stage()
    for (let i = 0; i < 20; i++) {
      s.last.on.closed(1006)
      s.hands.next()
    }
    const kinds = s.attempts.map((a) => a.kind)
    expect(kinds.slice(3)).toContain('socket')
    expect(kinds.filter((k) => k === 'events').length).toBeGreaterThan(10)
  })

  test('waits longer each time, up to 15 s', () => {
    const s = stage()
    const waits: number[] = []
    for (let i = 0; i < 10; i++) {
      s.last.on.closed(1006)
      const now = s.statuses.at(-1)
      if (now?.state === 'waiting') waits.push(now.until - s.hands.now())
      s.hands.next()
    }
    expect(waits[0]).toBe(500)
    expect(waits.at(-1)).toBe(15_000)
    expect(waits).toEqual(waits.toSorted((a, b) => a - b))
  })

  test('reconnects at the moment that a stopping server asked for', async () => {
    const s = stage()
    await connected(s)
    s.last.on.messages([{ type: 'reconnect', after_ms: 7300 } as ServerMessage])
    s.last.on.closed(1012)
    const now = s.statuses.at(-1)
    expect(now?.state === 'waiting' && now.until - s.hands.now()).toBe(7300)
    s.hands.next()
    expect(s.last.from).toEqual({ epoch: 'e1', seq: 10 })
  })

  test('ends when the session has ended', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1008)
    expect(s.state).toBe('ended')
    expect(s.hands.next()).toBe(false)
  })

  test('becomes doubtful when a message gets no answer within three seconds', async () => {
    const s = stage()
    await connected(s)
    s.connection.send({ ref: 'a' })
    s.hands.pass(2999)
    expect(s.state).toBe('connected')
    s.hands.pass(1)
    expect(s.state).toBe('doubtful')
    s.last.on.messages([{ type: 'ack', ref: 'a', seq: 11 } as ServerMessage])
    expect(s.state).toBe('connected')
    // The answers arrive one after the other, each in time.
    for (let i = 0; i < 4; i++) {
      s.connection.send({ ref: `b${i}` })
      s.connection.send({ ref: `c${i}` })
      s.hands.pass(2000)
      s.last.on.messages([{ type: 'ack', ref: `b${i}`, seq: 12 + i } as ServerMessage, { type: 'error', ref: `c${i}`, error: 'no' } as ServerMessage])
    }
    s.hands.pass(20_000)
    expect(s.state).toBe('connected')
  })

  test('gives up a silent connection, but not a connection whose answer is only late', async () => {
    const s = stage()
    await connected(s)
    const attempts = s.attempts.length
    s.connection.send({ ref: 'a' })
    s.hands.pass(3000)
    s.last.on.messages([{ type: 'progress_summary' } as unknown as ServerMessage])
    s.hands.pass(7000)
    expect(s.state).toBe('doubtful')
    expect(s.attempts.length).toBe(attempts)
    s.last.on.messages([{ type: 'ack', ref: 'a', seq: 11 } as ServerMessage])
    expect(s.state).toBe('connected')
    s.connection.offline()
    expect(s.state).toBe('doubtful')
    s.connection.hurry() // the device's network is back, but the server may still be unreachable
    expect([s.state, s.last.sent.at(-1)]).toEqual(['doubtful', { type: 'hello' }])
    s.last.on.messages([welcome(11)])
    expect(s.state).toBe('connected')
    s.hands.pass(20_000)
    expect(s.state).toBe('connected')
    s.connection.offline()
    s.hands.pass(7000)
    expect(s.state).toBe('waiting')
    expect(s.last.closed).toBe(true)
  })

  test('sends a hello after 30 s of silence, and reconnects from its position without an answer', async () => {
    const s = stage()
    await connected(s)
    const first = s.last
    s.hands.pass(29_999)
    expect(first.sent).toEqual([])
    first.on.messages([chat(11)])
    s.hands.pass(29_999)
    expect(first.sent).toEqual([])
    s.hands.pass(1)
    expect(first.sent).toEqual([{ type: 'hello' }])
    // The answer contains only the server's time.
    s.hands.pass(100)
    first.on.messages([{ ...welcome(11), now: 'then' } as ServerMessage])
    expect([s.times.at(-1), s.reads.length, s.state]).toEqual([['then', s.hands.now() - 100], 1, 'connected'])
    s.hands.pass(60_000)
    expect(first.closed).toBe(true)
    expect(s.attempts).toHaveLength(2)
    expect(s.last.from).toEqual({ epoch: 'e1', seq: 11 })
    expect(first.sent).toHaveLength(2)
    // After the device wakes, the connection sends a hello immediately, and only once.
    s.last.on.messages([welcome(11)])
    s.connection.hurry()
    s.connection.hurry()
    expect(s.last.sent).toEqual([{ type: 'hello' }])
    s.hands.pass(4999)
    expect(s.attempts).toHaveLength(2)
    s.hands.pass(1)
    expect(s.attempts).toHaveLength(3)
  })

  test('reopens an event stream that is silent, but not one that sends heartbeats', async () => {
    const s = stage(true)
    s.last.on.messages([welcome(10)])
    s.reads[0]!.resolve()
    await settle()
    const first = s.last
    expect(first.kind).toBe('events')
    for (let i = 0; i < 3; i++) {
      s.hands.pass(15_000)
      first.on.messages([])
      s.connection.hurry() // a heartbeat arrived a moment ago
    }
    expect([s.attempts.length, first.sent]).toEqual([1, []])
    s.hands.pass(20_000)
    s.connection.hurry()
    expect([s.attempts.length, first.closed, s.last.kind]).toEqual([2, true, 'events'])
  })

  test('reconnects only on a click after the server closed it for another window', async () => {
    const s = stage()
    await connected(s)
    const dials = s.attempts.length
    s.last.on.closed(4008)
    expect(s.state).toBe('elsewhere')
    expect(s.hands.next()).toBe(false)
    s.connection.hurry()
    expect(s.attempts.length).toBe(dials)
    s.connection.resume()
    expect(s.attempts.length).toBe(dials + 1)
    expect(s.last.from).toEqual({ epoch: 'e1', seq: 10 })
  })

  test('reconnects at once when hurried', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1006)
    s.connection.hurry()
    expect(s.attempts).toHaveLength(2)
    s.connection.hurry()
    expect(s.attempts).toHaveLength(2)
    expect(s.hands.next()).toBe(false)
  })

  test('ignores messages of an attempt that has ended', async () => {
    const s = stage()
    await connected(s)
    const old = s.last
    old.on.closed(1006)
    old.on.messages([chat(11)])
    old.on.closed(1006)
    expect(s.told).toEqual([])
    expect(s.statuses.filter((x) => x.state === 'waiting')).toHaveLength(1)
  })

  test('reports the result of a message', async () => {
    const s = stage()
    await connected(s)
    s.connection.send({ type: 'chat', ref: 'r1' })
    expect(s.last.sent).toEqual([{ type: 'chat', ref: 'r1' }])
    s.last.on.messages([{ type: 'ack', ref: 'r1', seq: 11 } as ServerMessage])
    s.last.on.messages([{ type: 'error', error: 'muted', ref: 'r2' } as ServerMessage])
    expect(s.settled).toEqual([
      ['r1', null],
      ['r2', 'muted'],
    ])
  })

  test('reports an ack after the frame that was held back before it, and drops the ack if the connection breaks first', async () => {
    const s = stage()
    await connected(s)
    s.last.on.messages([{ type: 'resync', epoch: 'e1', seq: 50, reason: 'window' } as ServerMessage])
    s.last.on.messages([chat(51), { type: 'ack', ref: 'r1', seq: 51 } as ServerMessage])
    expect(s.settled).toEqual([])
    s.reads.at(-1)!.resolve()
    await settle()
    expect(seqs(s.told)).toEqual([51])
    expect(s.settled).toEqual([['r1', null]])
    s.last.on.messages([{ type: 'resync', epoch: 'e1', seq: 60, reason: 'window' } as ServerMessage])
    s.last.on.messages([{ type: 'ack', ref: 'r2', seq: 61 } as ServerMessage])
    s.last.on.closed(1006)
    s.hands.next()
    await connected(s, 61)
    expect(s.settled).toEqual([['r1', null]])
  })

  test('delivers nothing after it was stopped', async () => {
    const s = stage()
    await connected(s)
    s.connection.stop()
    s.last.on.messages([chat(11)])
    s.last.on.closed(1006)
    expect(s.told).toEqual([])
    expect(s.state).toBe('connected')
    expect(s.hands.next()).toBe(false)
  })

  test('uses only the second read when a resync arrives during the first read', async () => {
    const s = stage()
    s.last.on.messages([welcome(10)])
    s.last.on.messages([chat(11)])
    s.last.on.messages([{ type: 'resync', epoch: 'e1', seq: 50, reason: 'window' } as ServerMessage])
    s.last.on.messages([chat(51)])
    s.reads[0]!.resolve()
    await settle()
    expect(s.told).toEqual([])
    expect(s.state).toBe('connecting')
    s.reads[1]!.resolve()
    await settle()
    expect(seqs(s.told)).toEqual([51])
    expect(s.state).toBe('connected')
  })

  test('ignores a failed read when a later one has begun or its attempt has ended', async () => {
    const s = stage()
    s.last.on.messages([welcome(10)])
    s.last.on.messages([{ type: 'resync', epoch: 'e1', seq: 50, reason: 'window' } as ServerMessage])
    s.reads[0]!.reject(new Error('offline'))
    await settle()
    expect(s.attempts[0]!.closed).toBe(false)
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.messages([welcome(60)])
    s.reads[1]!.reject(new Error('offline'))
    await settle()
    expect(s.last.closed).toBe(false)
    expect(s.state).toBe('connecting')
  })

  test('reads everything again when the stream resumes after a gap', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.messages([welcome(40, 50)])
    expect(s.reads).toHaveLength(2)
  })

  test('reads once when both the welcome and a resync ask for it', async () => {
    for (const epoch of ['e1', 'e2']) {
      const s = stage()
      await connected(s)
      s.last.on.closed(1006)
      s.hands.next()
      s.last.on.messages([welcome(50, 50, epoch)])
      s.last.on.messages([{ type: 'resync', epoch, seq: 50, reason: 'window' } as ServerMessage])
      expect(s.reads).toHaveLength(2)
      s.last.on.messages([chat(51)])
      s.reads[1]!.resolve()
      await settle()
      expect(seqs(s.told)).toEqual([51])
    }
  })

  test('does not deliver missed messages that arrived before a resync', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.messages([welcome(10, 60)])
    s.last.on.messages([chat(12)])
    s.last.on.messages([{ type: 'resync', epoch: 'e1', seq: 50, reason: 'window' } as ServerMessage])
    s.reads[1]!.resolve()
    await settle()
    // A new message is delivered immediately, unlike a missed message.
    s.last.on.messages([chat(55)])
    expect(seqs(s.told)).toEqual([55])
    s.hands.next()
    expect(s.missed).toEqual([])
  })

  test('delivers the missed messages before new ones', async () => {
    const s = stage()
    await connected(s)
    s.last.on.closed(1006)
    s.hands.next()
    s.last.on.messages([welcome(10, 20)])
    s.last.on.messages([chat(12)])
    s.last.on.messages([chat(21)]) // 13 to 20 were for other people
    expect([seqs(s.missed), seqs(s.told)]).toEqual([[12], [21]])
    s.hands.next()
    expect(s.missed).toHaveLength(1)
  })

  test('starts no read after the answer to a hello', async () => {
    const s = stage()
    await connected(s)
    s.last.on.messages([welcome(30)])
    expect(s.reads).toHaveLength(1)
    s.last.on.messages([chat(11)])
    expect(seqs(s.told)).toEqual([11])
    expect(s.ready).toBe(1)
  })

  test('shortens the wait again after each successful connection', async () => {
    const s = stage()
    const wait = () => {
      const now = s.statuses.at(-1)
      return now?.state === 'waiting' ? now.until - s.hands.now() : null
    }
    s.last.on.closed(1006)
    s.hands.next()
    await connected(s)
    s.last.on.closed(1006)
    expect(wait()).toBe(500)
    // A socket that opens also clears the count of sockets that did not open.
    s.hands.next()
    s.last.on.closed(1006)
    expect(wait()).toBe(1000)
    s.hands.next()
    expect(s.last.kind).toBe('socket')
  })

  test('reconnects soon after the server closed it as too slow, and uses a requested delay only once', async () => {
    const s = stage()
    const wait = () => {
      const now = s.statuses.at(-1)
      return now?.state === 'waiting' ? now.until - s.hands.now() : null
    }
    await connected(s)
    s.last.on.closed(1013)
    expect(wait()).toBe(125)
    s.hands.next()
    s.last.on.messages([welcome(10)])
    s.last.on.messages([{ type: 'reconnect', after_ms: 7300 } as ServerMessage])
    s.last.on.closed(1012)
    expect(wait()).toBe(7300)
    while (s.attempts.length < 3) s.hands.next()
    s.last.on.closed(1006)
    expect(wait()).toBe(1000)
  })

  test('sends nothing before the welcome', async () => {
    const s = stage()
    expect(s.connection.ready).toBe(false)
    s.connection.send({ type: 'chat' })
    expect(s.last.sent).toEqual([])
    await connected(s)
    expect(s.connection.ready).toBe(true)
    s.last.on.closed(1006)
    expect(s.connection.ready).toBe(false)
  })

  test('makes one attempt at a time, even when hurried', async () => {
    const s = stage()
    s.last.on.closed(1006)
    s.hands.next()
    s.connection.hurry() // an attempt is already running
    expect(s.attempts).toHaveLength(2)
  })

  test('closes the socket and makes no more attempts after it was stopped', async () => {
    const s = stage()
    await connected(s)
    s.connection.stop()
    expect(s.last.closed).toBe(true)
    const waiting = stage()
    waiting.last.on.closed(1006)
    waiting.connection.stop()
    waiting.connection.hurry()
    expect(waiting.hands.next()).toBe(false)
    expect(waiting.attempts).toHaveLength(1)
  })

  test('does not deliver the rest of a batch after it was stopped', async () => {
    const s = stage()
    const on = s.last.on
    s.last.on.messages([welcome(10)])
    s.reads[0]!.resolve()
    await settle()
    const end = {
      type: 'chat',
      get seq() {
        s.connection.stop()
        return 11
      },
    } as unknown as ServerMessage
    on.messages([end, chat(12)])
    expect(seqs(s.told)).not.toContain(12)
  })
})
