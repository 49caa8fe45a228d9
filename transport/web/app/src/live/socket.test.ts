import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ServerMessage } from './protocol'
import { socket } from './socket'

/** A WebSocket to a server that the test simulates. */
class Played {
  static last: Played
  sent: string[] = []
  ends: (number | undefined)[] = []
  onmessage: ((e: { data: string }) => void) | null = null
  onclose: ((e: { code: number }) => void) | null = null
  constructor(readonly url: URL) {
    Played.last = this
  }
  send(text: string) {
    this.sent.push(text)
  }
  close(code?: number) {
    this.ends.push(code)
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('WebSocket', Played)
  vi.stubGlobal('location', { href: 'https://atelier.test/codelabs/lab' })
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

const word = { type: 'chat', message: 'hello' } as ServerMessage

function stage(from: { epoch: string; seq: number } | null = null) {
  const heard: unknown[] = []
  const pipe = socket({ codelab: 'lab', as: 'attendee' }, from, { messages: (b) => heard.push(...b), closed: (code) => heard.push(code) })
  return { heard, pipe, ws: Played.last }
}

test('the socket URL contains the position, and uses TLS if the page does', () => {
  expect(stage().ws.url.href).toBe('wss://atelier.test/api/ws/lab?as=attendee')
  vi.stubGlobal('location', { href: 'http://atelier.test/' })
  expect(stage({ epoch: 'e 1', seq: 0 }).ws.url.href).toBe('ws://atelier.test/api/ws/lab?as=attendee&epoch=e+1&since=0')
})

test('an upgrade without an answer is given up after ten seconds; a connection to a silent room stays open', () => {
  const { heard, ws } = stage()
  vi.advanceTimersByTime(9_999)
  expect(heard).toEqual([])
  vi.advanceTimersByTime(1)
  expect(heard).toEqual([1006])
  expect(ws.ends).toHaveLength(1)
  ws.onmessage?.({ data: JSON.stringify(word) })
  ws.onclose?.({ code: 1000 })
  expect(heard).toEqual([1006])
  const silent = stage()
  silent.ws.onmessage?.({ data: JSON.stringify(word) })
  vi.advanceTimersByTime(3_600_000)
  expect(silent.heard).toEqual([word])
  silent.ws.onclose?.({ code: 1013 })
  expect(silent.heard).toEqual([word, 1013])
})

test('a closed socket sends code 1000 and delivers nothing more', () => {
  const { heard, pipe, ws } = stage()
  pipe.send(word)
  expect(ws.sent).toEqual([JSON.stringify(word)])
  pipe.close()
  expect(ws.ends).toEqual([1000])
  ws.onmessage?.({ data: JSON.stringify(word) })
  ws.onclose?.({ code: 1000 })
  vi.advanceTimersByTime(60_000)
  expect(heard).toEqual([])
})
