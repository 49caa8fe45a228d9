import { expect, test } from 'vitest'
import { area, sampled } from './timeline'

test.each([
  [[0, 5, 10], 10, 'M0 100L0 100L50 50L100 0L100 100Z'],
  [[3], 3, 'M0 100L0 0L100 100Z'],
  [[], 0, 'M0 100L100 100Z'],
  [[0, 0], 0, 'M0 100L0 100L100 100L100 100Z'],
  [[1, 2, 3, 3], 3, 'M0 100L0 66.7L33.3 33.3L66.7 0L100 0L100 100Z'],
])('%j of %i is the area %s', (counts, most, path) => expect(area(counts, most, 100, 100)).toBe(path))

test.each([
  [0, 5, []],
  [1, 5, [0]],
  [3, 5, [0, 1, 2]],
  [61, 4, [0, 20, 40, 60]],
  [61, 1, [60]],
])('of %i points at most %i are %j', (points, most, want) => expect(sampled(points, most)).toEqual(want))
