import fc from 'fast-check'
import { expect, test } from 'vitest'
import { across, always, gap, nameRow, namesIn, pitch } from './cells'

test.each([
  // people, width, height, most: names
  [0, 150, 400, 300, 0],
  [30, 150, 0, 300, 30], // a few always
  [31, 150, 31 * nameRow, 300, 31], // there is just room
  [31, 150, 31 * nameRow - 1, 300, 30],
  [100, 150, 400, 300, 9], // nine names, and the others in ten rows of cells
  [100, 300, 400, 300, 24], // two names beside each other
  [500, 150, 400, 300, 0], // all the room is for the cells
  [500, 1400, 900, 300, 300], // room for more than may be
  [31, 150, 2000, 20, 20],
])('of %i people in %i by %i, at most %i, %i have names', (people, width, height, most, names) => {
  expect(namesIn(people, width, height, most)).toBe(names)
})

test('names and cells fit, and one more row of names would not', () => {
  fc.assert(
    fc.property(fc.integer({ min: always + 1, max: 5000 }), fc.integer({ min: 120, max: 1400 }), fc.integer({ min: 0, max: 2000 }), (people, width, height) => {
      const names = namesIn(people, width, height, 100_000)
      const takes = (names: number) =>
        Math.ceil(names / across(width)) * nameRow + (names < people ? gap + Math.ceil((people - names) / Math.floor(width / pitch)) * pitch : 0)
      if (names > 0) expect(takes(names)).toBeLessThanOrEqual(height)
      if (names < people) expect(takes(Math.min(people, names + across(width)))).toBeGreaterThan(height)
    }),
  )
})
