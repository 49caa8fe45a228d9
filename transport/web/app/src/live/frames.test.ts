import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Frames } from './frames'
import { Listeners } from './listeners'

let visibility: string
let draw: (() => void) | null

beforeEach(() => {
  vi.useFakeTimers()
  visibility = 'visible'
  draw = null
  vi.stubGlobal('document', {
    get visibilityState() {
      return visibility
    },
  })
  vi.stubGlobal('requestAnimationFrame', (f: () => void) => ((draw = f), 1))
  vi.stubGlobal('cancelAnimationFrame', () => (draw = null))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

test('values are delivered once per frame, in order', () => {
  const batches: number[][] = []
  const frames = new Frames<number>((b) => batches.push(b))
  frames.add([1, 2])
  frames.add([3])
  expect(batches).toEqual([])
  draw!()
  frames.add([4])
  draw!()
  expect(batches).toEqual([[1, 2, 3], [4]])
})

test('flush delivers waiting values immediately, and the next frame does not repeat them', () => {
  const batches: number[][] = []
  const frames = new Frames<number>((b) => batches.push(b))
  frames.flush()
  frames.add([1, 2])
  frames.flush()
  expect(batches).toEqual([[1, 2]])
  expect(draw).toBeNull()
  frames.add([3])
  draw!()
  expect(batches).toEqual([[1, 2], [3]])
})

test('a hidden page, which draws no frames, receives values from a timer', () => {
  visibility = 'hidden'
  const batches: number[][] = []
  const frames = new Frames<number>((b) => batches.push(b))
  frames.add([1])
  expect(draw).toBeNull()
  vi.runAllTimers()
  expect(batches).toEqual([[1]])
})

test('a page that is hidden before its frame receives the waiting values and the later ones', () => {
  const batches: number[][] = []
  const frames = new Frames<number>((b) => batches.push(b))
  frames.add([1])
  visibility = 'hidden'
  vi.runAllTimers()
  frames.add([2])
  vi.runAllTimers()
  expect(batches).toEqual([[1], [2]])
})

test.each(['visible', 'hidden'])('nothing is delivered after stop on a %s page', (state) => {
  visibility = state
  const batches: number[][] = []
  const frames = new Frames<number>((b) => batches.push(b))
  frames.add([1])
  frames.stop()
  frames.add([2])
  draw?.()
  vi.runAllTimers()
  expect(batches).toEqual([])
})

test('listeners receive events until they are removed', () => {
  const all = new Listeners<[number, string]>()
  const heard: unknown[] = []
  const stop = all.add((n, s) => heard.push([n, s]))
  all.add((n) => heard.push(n))
  all.tell(1, 'a')
  stop()
  all.tell(2, 'b')
  expect(heard).toEqual([[1, 'a'], 1, 2])
})
