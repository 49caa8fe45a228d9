import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { batched } from './batches'
import type { Dial, PipeEvents } from './pipe'
import type { ServerMessage } from './protocol'

const move = (n: number) => ({ type: 'step_progress', step_number: n }) as ServerMessage
const word = (text: string) => ({ type: 'chat', message: text }) as ServerMessage

describe('a batched connection', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function stage() {
    let server!: PipeEvents
    const dial: Dial = (_address, _from, on) => {
      server = on
      return { send: (m) => void sent.push(m), close: () => void sent.push('closed') }
    }
    const sent: unknown[] = []
    const heard: (readonly ServerMessage[] | number)[] = []
    const pipe = batched(dial)({ codelab: 'lab', as: 'admin' }, null, { messages: (b) => heard.push(b), closed: (code) => heard.push(code) })
    return { server, pipe, heard, sent }
  }

  test('progress messages are held for 250 ms and delivered together', () => {
    const { server, heard } = stage()
    server.messages([move(1)])
    vi.advanceTimersByTime(200)
    server.messages([move(2)])
    expect(heard).toEqual([])
    vi.advanceTimersByTime(50)
    expect(heard).toEqual([[move(1), move(2)]])
    vi.advanceTimersByTime(1000)
    expect(heard.length).toBe(1)
  })

  test('a chat message is delivered at once, after the progress messages before it', () => {
    const { server, heard } = stage()
    server.messages([move(1)])
    server.messages([word('hello')])
    expect(heard).toEqual([[move(1), word('hello')]])
    server.messages([move(2)])
    vi.advanceTimersByTime(250)
    expect(heard).toEqual([[move(1), word('hello')], [move(2)]])
  })

  test('held messages are delivered before the connection ends; after the page closed the connection, none is delivered', () => {
    const { server, heard } = stage()
    server.messages([move(1)])
    server.closed(1006)
    expect(heard).toEqual([[move(1)], 1006])
    const other = stage()
    other.server.messages([move(1)])
    other.pipe.close()
    vi.advanceTimersByTime(1000)
    expect(other.heard).toEqual([])
  })

  test('a chat message ends the wait of the messages before it, so that the next ones wait the full time', () => {
    const { server, heard } = stage()
    server.messages([move(1)])
    vi.advanceTimersByTime(100)
    server.messages([word('hello')])
    vi.advanceTimersByTime(100)
    server.messages([move(2)])
    vi.advanceTimersByTime(200)
    expect(heard).toHaveLength(1)
    vi.advanceTimersByTime(50)
    expect(heard).toEqual([[move(1), word('hello')], [move(2)]])
  })

  test('sent messages and the close are passed through', () => {
    const { pipe, sent } = stage()
    pipe.send(word('hello'))
    pipe.close()
    expect(sent).toEqual([word('hello'), 'closed'])
  })
})
