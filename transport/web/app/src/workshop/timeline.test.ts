import { expect, test } from 'vitest'
import { ends, line, sampled } from './timeline'

test.each([
  [[0, 5, 10], 10, 'M0 104L50 54L100 4'],
  [[3], 3, 'M0 4H100'],
  [[], 0, ''],
  [[0, 0], 0, 'M0 104L100 104'],
  [[1, 3, 3], 3, 'M0 70.7L50 4L100 4'],
])('counts %j with a maximum of %i make the line "%s"', (counts, most, path) => expect(line(counts, most, 100, 108)).toBe(path))

test('line ends that are close share a label', () => {
  const of = (last: number[]) => ends(last, 34, 108, 15).map((l) => [l.from, l.to, l.count])
  expect(of([34, 34, 33, 20, 12, 2, 1, 0])).toEqual([
    [0, 2, 34],
    [3, 3, 20],
    [4, 4, 12],
    [5, 7, 2],
  ])
  expect(of([])).toEqual([])
  expect(ends([0, 0], 0, 108, 15)).toEqual([{ from: 0, to: 1, count: 0, y: 104 }])
})

test.each([
  [0, 5, []],
  [1, 5, [0]],
  [3, 5, [0, 1, 2]],
  [61, 4, [0, 20, 40, 60]],
  [61, 1, [60]],
])('of %i points, a sample of at most %i has the indexes %j', (points, most, want) => expect(sampled(points, most)).toEqual(want))
