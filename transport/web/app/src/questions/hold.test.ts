import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Hold } from './hold.svelte'

class Box extends EventTarget {
  readonly inside = new Set<unknown>()
  contains = (node: unknown) => this.inside.has(node)
}
class Focus extends Event {
  constructor(
    type: string,
    readonly relatedTarget: unknown = null,
  ) {
    super(type)
  }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('Node', Object)
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

function stage(touch = false) {
  const hold = new Hold(touch)
  const [list, scroller] = [new Box(), new Box()]
  const stop = hold.watch(list as unknown as HTMLElement, scroller as unknown as HTMLElement)
  return { hold, list, scroller, stop }
}

test('a list is held while somebody points at it', () => {
  const { hold, list } = stage()
  expect(hold.on).toBe(false)
  list.dispatchEvent(new Event('pointerenter'))
  expect(hold.on).toBe(true)
  list.dispatchEvent(new Event('pointerleave'))
  expect(hold.on).toBe(false)
})

test('a list is held while the focus is in it or moves within it', async () => {
  const { hold, list } = stage()
  const button = {}
  list.inside.add(button)
  list.dispatchEvent(new Focus('focusin'))
  list.dispatchEvent(new Focus('focusout', button))
  await Promise.resolve()
  expect(hold.on).toBe(true)
  list.dispatchEvent(new Focus('focusout', {}))
  await Promise.resolve()
  expect(hold.on).toBe(false)
})

test('a list is held while it is scrolled, and a moment longer', () => {
  const { hold, scroller } = stage()
  scroller.dispatchEvent(new Event('scroll'))
  vi.advanceTimersByTime(1000)
  scroller.dispatchEvent(new Event('scroll'))
  vi.advanceTimersByTime(1000)
  expect(hold.on).toBe(true)
  vi.advanceTimersByTime(600)
  expect(hold.on).toBe(false)
})

test('on a touch screen a list is always held', () => {
  expect(stage(true).hold.on).toBe(true)
})

test('a list that is no longer watched is not held', () => {
  const { hold, list, stop } = stage()
  stop()
  list.dispatchEvent(new Event('pointerenter'))
  expect(hold.on).toBe(false)
})
