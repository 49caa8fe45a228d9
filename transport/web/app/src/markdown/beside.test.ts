import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Beside, type Answer, type Ask, type Helper } from './beside'

class Fake implements Helper<string, string> {
  onmessage: ((e: MessageEvent<Answer<string>>) => void) | null = null
  onerror: (() => void) | null = null
  tasks: Ask<string>[] = []
  ended = false
  postMessage(task: Ask<string>) {
    this.tasks.push(task)
  }
  terminate() {
    this.ended = true
  }
  say(data: Answer<string>) {
    this.onmessage?.({ data } as MessageEvent<Answer<string>>)
  }
  get task() {
    return this.tasks.at(-1)!
  }
}

describe('work in a worker', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function stage(bounds?: { mostTime: number; idle: number }) {
    const helpers: Fake[] = []
    const layout = new Beside<string, string>(() => {
      const f = new Fake()
      helpers.push(f)
      return f
    }, bounds)
    return { helpers, layout }
  }

  test('runs one task after the other', async () => {
    const { helpers, layout } = stage()
    const one = layout.do('1')
    const two = layout.do('2')
    const h = helpers[0]!
    expect(h.tasks.length).toBe(1)
    h.say({ id: h.task.id, result: 'one' })
    expect(await one).toBe('one')
    h.say({ id: h.task.id, result: 'two' })
    expect(await two).toBe('two')
    expect(helpers.length).toBe(1)
  })

  test('ends a worker that takes too long, and continues with another', async () => {
    const { helpers, layout } = stage()
    const slow = layout.do('slow')
    const next = layout.do('next')
    vi.advanceTimersByTime(5000) // the start of the worker has no time limit
    expect(helpers[0]!.ended).toBe(false)
    helpers[0]!.say({ id: helpers[0]!.task.id, begun: true })
    vi.advanceTimersByTime(201)
    expect(helpers[0]!.ended).toBe(true)
    helpers[1]!.say({ id: helpers[1]!.task.id, begun: true })
    helpers[1]!.say({ id: helpers[1]!.task.id, result: 'next' })
    expect(await next).toBe('next')
    // The retry has five times as much time.
    expect(helpers[1]!.task.task).toBe('slow')
    helpers[1]!.say({ id: helpers[1]!.task.id, begun: true })
    vi.advanceTimersByTime(999)
    expect(helpers[1]!.ended).toBe(false)
    vi.advanceTimersByTime(2)
    expect(await slow).toBe(null)
    expect(helpers[1]!.ended).toBe(true)
  })

  test('retries a task that only a busy machine delayed, but not forever', async () => {
    const { helpers, layout } = stage()
    const begin = (took: number) => {
      const h = helpers.at(-1)!
      h.say({ id: h.task.id, begun: true })
      vi.advanceTimersByTime(took)
      return h
    }
    const delayed = layout.do('x')
    begin(201)
    const h = begin(900)
    h.say({ id: h.task.id, result: 'done' })
    expect(await delayed).toBe('done')
    for (const second of [true, true, false]) {
      const endless = layout.do('bomb')
      begin(201)
      if (second) begin(1001)
      expect(await endless).toBe(null)
    }
  })

  test('uses the given time limit, and ends an idle worker', async () => {
    const { helpers, layout } = stage({ mostTime: 2000, idle: 30_000 })
    const work = async (took: number) => {
      const done = layout.do('x')
      const h = helpers.at(-1)!
      h.say({ id: h.task.id, begun: true })
      vi.advanceTimersByTime(took)
      h.say({ id: h.task.id, result: 'done' })
      return done
    }
    expect(await work(1999)).toBe('done')
    vi.advanceTimersByTime(29_000)
    expect(await work(0)).toBe('done')
    vi.advanceTimersByTime(29_000)
    expect(helpers.length).toBe(1)
    expect(helpers[0]!.ended).toBe(false)
    vi.advanceTimersByTime(1000)
    expect(helpers[0]!.ended).toBe(true)
    const late = work(2001)
    expect(helpers.length).toBe(3)
    helpers[2]!.say({ id: helpers[2]!.task.id, begun: true })
    vi.advanceTimersByTime(10_000)
    expect(await late).toBe(null)
  })

  test('resolves to null without worker support', async () => {
    const layout = new Beside<string, string>(() => {
      throw new Error('none')
    })
    expect(await layout.do('x')).toBe(null)
    expect(await layout.do('y')).toBe(null)
  })
})
