import { expect, test } from 'vitest'
import type { Seat } from '../../workshop/floor'
import { Arrangement } from './arrange.svelte'
import { Planner, type StepOf } from './layout'

const setting = { measure: (t: string, size: number) => t.length * size * 0.5, state: () => '', aside: () => 50, rowSides: 46 }
const box = { width: 700, height: 400 }
const steps = (...counts: number[]): StepOf<Seat>[] =>
  counts.map((n, i) => ({
    key: String(i + 1),
    title: 'Step',
    people: Array.from({ length: n }, (_, k) => ({ id: `${i}.${k}`, name: 'Ann', kind: 'fine', asked: 0, text: '' }) as Seat),
  }))

function floor(...counts: number[]) {
  const a = new Arrangement(new Planner(setting))
  a.look(box, steps(...counts), false, 0)
  return a
}
const few = [6, 1, 1, 1, 1, 1]
const full = [12, 60, 1, 1, 1, 1]

test.each([
  ['spare space changes the layout only five seconds after the last layout', full, few, false, [4999, 5000], [false, true]],
  ['people who do not fit change the layout at once', few, full, false, [1], [true]],
  ['the layout stays while somebody points at it, for at most ten seconds', few, full, true, [1, 9000, 10_001], [false, false, true]],
])('%s', (_, before, after, held, times, changed) => {
  const a = floor(...before)
  const first = a.layout
  const now = steps(...after)
  expect(times.map((t) => (a.look(box, now, held, t), a.layout !== first))).toEqual(changed)
})

test('the first person on an empty step appears at once, even if somebody points at the floor', () => {
  const a = floor(14, 14, 0, 0, 0)
  expect(a.layout!.groups.at(-1)!.form).toBe('strip')
  a.look(box, steps(14, 13, 0, 0, 1), true, 1)
  expect(a.layout!.groups.find((g) => g.steps.includes(4))!.form).not.toBe('strip')
})

test('a resized window gets a new layout, even if somebody points at it', () => {
  const a = floor(...few)
  const first = a.layout
  a.look({ width: 400, height: 400 }, steps(...few), true, 1)
  expect([first!.narrow, a.layout!.narrow]).toEqual([false, true])
})

test('after a resize, the layout equals a new layout, whatever was shown before', () => {
  const people = [8, 9, 10, 8, 7, 6]
  for (let height = 200; height <= 700; height += 20) {
    const now = { width: 700, height }
    const a = new Arrangement(new Planner(setting))
    a.look({ width: 700, height: 180 }, steps(...people), false, 0)
    const fresh = new Arrangement(new Planner(setting))
    a.look(now, steps(...people), false, 1)
    fresh.look(now, steps(...people), false, 1)
    expect(a.layout).toEqual(fresh.layout)
  }
})

test('an unchanged layout stays the same object, so that nothing is redrawn', () => {
  const a = floor(...few)
  const first = a.layout
  a.look(box, steps(...few), false, 6000)
  expect(a.layout).toBe(first)
})

test('there is no layout before the floor has a width', () => {
  const a = new Arrangement(new Planner(setting))
  a.look({ width: 0, height: 400 }, steps(1), false, 0)
  expect(a.layout).toBeNull()
})
