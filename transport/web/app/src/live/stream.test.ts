import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { FromStream, ToStream } from './events'

/** The server's stream, which the test simulates. */
class Source {
  static all: Source[] = []
  onmessage: ((e: { data: string }) => void) | null = null
  onerror: (() => void) | null = null
  closed = false
  constructor(readonly path: string) {
    Source.all.push(this)
  }
  #beat: () => void = () => {}
  addEventListener(kind: string, f: () => void) {
    if (kind === 'beat') this.#beat = f
  }
  beats() {
    this.#beat()
  }
  close() {
    this.closed = true
  }
  says(m: object) {
    this.onmessage?.({ data: JSON.stringify(m) })
  }
}

class Tab {
  heard: FromStream[] = []
  onmessage: ((e: { data: ToStream }) => void) | null = null
  postMessage(m: FromStream) {
    this.heard.push(m)
  }
  open(seq = 0, epoch = seq > 0 ? 'e1' : '') {
    this.onmessage?.({ data: { open: { path: '/events?as=attendee', epoch, seq } } })
    return this
  }
  leave() {
    this.onmessage?.({ data: { leave: true } })
  }
  get messages() {
    return this.heard.flatMap((h) =>
      'message' in h ? [JSON.parse(h.message) as { type: string; seq: number; head?: number; now?: string; you?: unknown }] : [],
    )
  }
  /** A summary of the received messages. */
  get short() {
    return this.messages.map((m) => `${m.type} ${m.seq}`)
  }
}

const you = { id: 'a1' }
const welcome = (seq: number, epoch = 'e1') => ({ type: 'welcome', epoch, seq, head: seq, you })
const chat = (seq: number) => ({ type: 'chat', seq })

describe('the stream that tabs share', () => {
  let connect: (e: { ports: Tab[] }) => void
  const tab = () => {
    const t = new Tab()
    connect({ ports: [t] })
    return t
  }
  const source = () => Source.all.at(-1)!

  beforeEach(async () => {
    Source.all = []
    const self = {} as { onconnect: typeof connect }
    vi.stubGlobal('self', self)
    vi.stubGlobal('EventSource', Source)
    vi.resetModules()
    await import('./stream.worker')
    connect = self.onconnect
    return () => void vi.unstubAllGlobals()
  })

  test('is opened once, from the position of the first tab, and delivers to all tabs', () => {
    const [one, two] = [tab().open(7), tab().open(7)]
    expect(Source.all.map((s) => s.path)).toEqual(['/events?as=attendee&epoch=e1&since=7'])
    source().says(welcome(7))
    source().says(chat(8))
    for (const t of [one, two]) expect(t.short).toEqual(['welcome 7', 'chat 8'])
  })

  test('welcomes a tab without a position at the current position of the stream', () => {
    tab().open()
    expect(source().path).toBe('/events?as=attendee')
    source().says(welcome(7))
    source().says(chat(8))
    const late = tab().open()
    expect(late.short).toEqual(['welcome 8'])
    expect(late.messages[0]?.you).toEqual(you)
    source().says(chat(9))
    expect(late.short).toEqual(['welcome 8', 'chat 9'])
  })

  test('passes the time of a welcome on to present tabs, but not to later tabs', () => {
    const one = tab().open()
    source().says({ ...welcome(7), now: '2026-01-01T00:00:00.000Z' })
    expect(one.messages[0]?.now).toBe('2026-01-01T00:00:00.000Z')
    expect('now' in tab().open().messages[0]!).toBe(false)
  })

  test('delivers to a returning tab exactly what it missed', () => {
    tab().open()
    source().says(welcome(7))
    for (const seq of [8, 9, 10]) source().says(chat(seq))
    const back = tab().open(8)
    expect(back.short).toEqual(['welcome 8', 'chat 9', 'chat 10'])
    expect(back.messages[0]?.head).toBe(10)
    expect(tab().open(7).short).toEqual(['welcome 7', 'chat 8', 'chat 9', 'chat 10'])
    expect(tab().open(10).short).toEqual(['welcome 10'])
  })

  test('sends a resync to a tab whose position is too old, of another epoch, or ahead of the stream', () => {
    tab().open()
    source().says(welcome(7))
    source().says(chat(8))
    for (const t of [tab().open(6), tab().open(8, 'e0'), tab().open(9)]) expect(t.short).toEqual(['welcome 8', 'resync 8'])
  })

  test('does not replay messages from before a resync of the server', () => {
    tab().open()
    source().says(welcome(7))
    source().says(chat(8))
    source().says({ type: 'resync', epoch: 'e1', seq: 50, reason: 'window' })
    source().says(chat(51))
    const back = tab().open(8)
    expect(back.short).toEqual(['welcome 51', 'resync 51'])
    expect(back.messages[0]?.you).toEqual(you)
    expect(tab().open(50).short).toEqual(['welcome 50', 'chat 51'])
  })

  test('passes heartbeats on to tabs, and reopens a silent stream for a new tab', () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const [a, b] = [tab().open(), tab()]
      source().says(welcome(1))
      const dead = source()
      vi.setSystemTime(Date.now() + 16_000)
      dead.beats()
      expect(a.heard.at(-1)).toEqual({ beat: true })
      vi.setSystemTime(Date.now() + 18_000)
      b.open(1)
      expect([dead.closed, a.heard.at(-1), Source.all.length]).toEqual([true, { closed: 1006 }, 2])
      source().says(welcome(1))
      expect(b.short).toEqual(['welcome 1'])
    } finally {
      vi.useRealTimers()
    }
  })

  test('keeps only the newest messages of a long stream', () => {
    tab().open()
    source().says(welcome(0))
    for (let seq = 1; seq <= 2001; seq++) source().says(chat(seq))
    expect(tab().open(1001).short).toHaveLength(1001)
    expect(tab().open(500).short).toEqual(['welcome 2001', 'resync 2001'])
  })

  test('closes with its last tab, and opens again with the next tab', () => {
    const [one, two] = [tab().open(), tab().open()]
    source().says(welcome(7))
    one.leave()
    expect(source().closed).toBe(false)
    source().says(chat(8))
    expect([one.short.length, two.short.length]).toEqual([1, 2])
    two.leave()
    expect(source().closed).toBe(true)
    const next = tab().open(8)
    expect(Source.all).toHaveLength(2)
    // Tabs get neither the welcome nor the messages of the old stream.
    const other = tab().open(8)
    expect([...next.heard, ...other.heard]).toEqual([])
    source().says(welcome(20))
    expect(next.short).toEqual(['welcome 20'])
    expect(tab().open(8).short).toEqual(['welcome 20', 'resync 20'])
  })

  test('reports a lost connection once to each tab', () => {
    const [one, two] = [tab().open(), tab().open()]
    source().says(welcome(7))
    source().onerror?.()
    for (const t of [one, two]) expect(t.heard.at(-1)).toEqual({ closed: 1006 })
    expect(source().closed).toBe(true) // otherwise the browser would open the stream again automatically
    one.open(7)
    source().says(welcome(7))
    expect(two.short).toEqual(['welcome 7'])
    expect(one.short).toEqual(['welcome 7', 'welcome 7'])
  })
})
