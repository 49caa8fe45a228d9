import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { ServerMessage } from './protocol'
import type { FromSocket, ToSocket } from './worked'
import { workedSocket } from './worked'

/** A worker that the test simulates. */
class Played {
  static last: Played
  told: ToSocket[] = []
  ended = false
  onerror: (() => void) | null = null
  onmessage: ((e: { data: FromSocket }) => void) | null = null
  constructor() {
    Played.last = this
  }
  postMessage(m: ToSocket) {
    this.told.push(m)
  }
  terminate() {
    this.ended = true
  }
  says(data: FromSocket) {
    this.onmessage?.({ data })
  }
}

/** Locks that others hold until the test releases them. */
const locks = { wanted: new Map<string, () => void>(), request: (name: string, then: () => void) => void locks.wanted.set(name, then) }

const word = { type: 'chat', message: 'hello' } as ServerMessage

describe('the socket in a worker', () => {
  beforeEach(() => {
    vi.useFakeTimers()
    locks.wanted.clear()
    vi.stubGlobal('Worker', Played)
    vi.stubGlobal('navigator', { locks })
  })
  afterEach(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
  })

  function stage() {
    const heard: unknown[] = []
    const from = { epoch: 'e', seq: 3 }
    const pipe = workedSocket({ codelab: 'lab', as: 'admin' }, from, { messages: (b) => heard.push(b), closed: (code) => heard.push(code) })
    return { heard, pipe, worker: Played.last }
  }

  test('resumes from a position, receives and sends messages, and ends once', () => {
    const { heard, pipe, worker } = stage()
    expect(worker.told).toMatchObject([{ open: { address: { codelab: 'lab', as: 'admin' }, from: { epoch: 'e', seq: 3 } } }])
    worker.says({ batch: [word] })
    pipe.send(word)
    expect(worker.told[1]).toEqual({ send: word })
    worker.says({ closed: 1013 })
    expect(worker.ended).toBe(true)
    worker.says({ closed: 1006 })
    worker.says({ batch: [word] })
    worker.onerror?.()
    expect(heard).toEqual([[word], 1013])
  })

  test('ends with code 1006 when the worker fails or never sends a message', () => {
    const broken = stage()
    broken.worker.onerror?.()
    expect([broken.heard, broken.worker.ended]).toEqual([[1006], true])
    const mute = stage()
    vi.advanceTimersByTime(60_000)
    expect([mute.heard, mute.worker.ended]).toEqual([[1006], true])
    const quiet = stage()
    quiet.worker.says({ batch: [word] })
    vi.advanceTimersByTime(3_600_000) // an hour without messages in the room
    expect(quiet.heard).toEqual([[word]])
  })

  test('ends with code 1006 when the browser has ended the worker', () => {
    const { heard, worker } = stage()
    const open = worker.told[0] as Extract<ToSocket, { open: object }>
    expect(locks.wanted.size).toBe(0) // the page must not request the lock before the worker holds it
    worker.says({ alive: true })
    locks.wanted.get(open.open.life)!()
    expect(heard).toEqual([1006])
    const other = stage()
    expect((other.worker.told[0] as typeof open).open.life).not.toBe(open.open.life)
  })

  test('delivers nothing after close, and leaves the worker time to close the socket', () => {
    const { heard, pipe, worker } = stage()
    worker.says({ alive: true })
    pipe.close()
    expect(worker.told[1]).toEqual({ close: true })
    expect(worker.ended).toBe(false)
    worker.says({ batch: [word] })
    worker.onerror?.()
    for (const free of locks.wanted.values()) free()
    vi.advanceTimersByTime(60_000)
    expect(heard).toEqual([])
  })
})
