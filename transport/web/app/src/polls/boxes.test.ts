import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boxesOf, joinBoxes, mostText, roomOf, splitBoxes } from './boxes'

const labels = ['Learned', 'Still unclear']

test('the boxes are joined into one text, without empty boxes', () => {
  expect(joinBoxes(labels, [' channels ', 'select\nand close'])).toBe('Learned: channels\nStill unclear: select\nand close')
  expect(joinBoxes(labels, ['', 'select'])).toBe('Still unclear: select')
  expect(joinBoxes(labels, [' ', ''])).toBe('')
})

test('text outside the boxes is shown unchanged', () => {
  expect(splitBoxes(labels, 'nothing of both\nLearned: x')).toEqual([
    { box: null, text: 'nothing of both' },
    { box: 0, text: 'x' },
  ])
  expect(splitBoxes([], 'one\ntwo')).toEqual([{ box: null, text: 'one\ntwo' }])
})

test('a written text is split into its boxes again', () => {
  const line = fc.stringMatching(/^[a-z]{1,9}( [a-z]{1,9}){0,3}$/)
  fc.assert(
    fc.property(fc.tuple(fc.option(line), fc.option(line)), (texts) => {
      const written = texts.map((t) => t ?? '')
      expect(boxesOf(labels, joinBoxes(labels, written))).toEqual(written)
    }),
  )
  expect(boxesOf(labels, 'mine')).toEqual(['mine', ''])
})

test('full boxes fit the length limit of a vote', () => {
  for (const all of [labels, ['a', 'b', 'c', 'd'], ['x'.repeat(200), 'y'.repeat(200), 'z'.repeat(200), 'w'.repeat(200)]]) {
    const full = joinBoxes(
      all,
      all.map(() => 'é'.repeat(roomOf(all))),
    )
    expect([...full].length).toBeLessThanOrEqual(mostText)
    expect(roomOf(all)).toBeGreaterThan(40)
  }
})
