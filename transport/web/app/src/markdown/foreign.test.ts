import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { Layout, type Begun, type Done, type Helper, type Task } from './foreign'

class Fake implements Helper {
  onmessage: ((e: MessageEvent<Begun | Done>) => void) | null = null
  onerror: (() => void) | null = null
  tasks: Task[] = []
  ended = false
  postMessage(task: Task) {
    this.tasks.push(task)
  }
  terminate() {
    this.ended = true
  }
  say(data: Begun | Done) {
    this.onmessage?.({ data } as MessageEvent<Begun | Done>)
  }
  get task() {
    return this.tasks.at(-1)!
  }
}

describe('layout', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function stage() {
    const helpers: Fake[] = []
    const layout = new Layout(() => {
      const f = new Fake()
      helpers.push(f)
      return f
    })
    return { helpers, layout }
  }

  test('gives one text after the other', async () => {
    const { helpers, layout } = stage()
    const one = layout.lay('1', 3)
    const two = layout.lay('2', 3)
    const h = helpers[0]!
    expect(h.tasks.length).toBe(1)
    h.say({ id: h.task.id, html: 'one' })
    expect(await one).toBe('one')
    h.say({ id: h.task.id, html: 'two' })
    expect(await two).toBe('two')
    expect(helpers.length).toBe(1)
  })

  test('ends a worker that takes too long, and goes on with another', async () => {
    const { helpers, layout } = stage()
    const slow = layout.lay('slow', 3)
    const next = layout.lay('next', 3)
    vi.advanceTimersByTime(5000) // its start may take as long as it does
    expect(helpers[0]!.ended).toBe(false)
    helpers[0]!.say({ id: helpers[0]!.task.id, begun: true })
    vi.advanceTimersByTime(201)
    expect(await slow).toBe(null)
    expect(helpers[0]!.ended).toBe(true)
    helpers[1]!.say({ id: helpers[1]!.task.id, begun: true })
    helpers[1]!.say({ id: helpers[1]!.task.id, html: 'next' })
    expect(await next).toBe('next')
    vi.advanceTimersByTime(1000)
    expect(helpers[1]!.ended).toBe(false)
  })

  test('is plain text where there are no workers', async () => {
    const layout = new Layout(() => {
      throw new Error('none')
    })
    expect(await layout.lay('x', 3)).toBe(null)
    expect(await layout.lay('y', 3)).toBe(null)
  })

  test('shows no endless HTML', async () => {
    const { helpers, layout } = stage()
    const out = layout.lay('x', 3)
    helpers[0]!.say({ id: helpers[0]!.task.id, html: 'x'.repeat(1_000_001) })
    expect(await out).toBe(null)
  })
})
