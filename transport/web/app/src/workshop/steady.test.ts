import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Question } from './state'
import { nothingShown, steady, type Shown } from './steady'

const question = (id: string, votes = 0, more: Partial<Question> = {}) =>
  ({ id, text: id, votes, voted: false, mine: false, state: 'open', answer: null, ...more }) as Question
const ids = (s: Shown) => s.rows.map((r) => r.question.id)

test('a list that nobody uses follows the votes', () => {
  const before = steady(nothingShown, [question('a', 2), question('b', 1)], false)
  const after = steady(before, [question('b', 3), question('a', 2)], false)
  expect([ids(after), after.stale, after.fresh]).toEqual([['b', 'a'], false, 0])
})

test('in a held list no row moves: votes are updated, and new questions are only counted', () => {
  const before = steady(nothingShown, [question('a', 2), question('b', 1)], false)
  const held = steady(before, [question('n', 9), question('b', 3), question('a', 2)], true)
  expect(ids(held)).toEqual(['a', 'b'])
  expect(held.rows[1]?.question.votes).toBe(3)
  expect([held.stale, held.fresh]).toEqual([true, 1])
  const sorted = steady(held, [question('n', 9), question('b', 3), question('a', 2)], false)
  expect([ids(sorted), sorted.stale, sorted.fresh]).toEqual([['n', 'b', 'a'], false, 0])
})

test('an answer, which would make a row higher, waits in a held list', () => {
  const before = steady(nothingShown, [question('a')], false)
  const now = [question('a', 1, { state: 'answered', answer: 'A long answer.' })]
  const held = steady(before, now, true)
  expect([held.rows[0]?.question.answer, held.rows[0]?.question.votes, held.stale]).toEqual([null, 1, true])
  expect(steady(held, now, false).rows[0]?.question.answer).toBe('A long answer.')
})

test('a row that the person changed shows the change, in its place', () => {
  const before = steady(nothingShown, [question('a', 2), question('b', 1)], false)
  const now = [question('b', 1), question('a', 2, { state: 'answered' })]
  const held = steady(before, now, true, new Set(['a']))
  expect([ids(held), held.rows[0]?.question.state, held.stale]).toEqual([['a', 'b'], 'answered', true])
})

test('a deleted question keeps its place until the list is released', () => {
  const before = steady(nothingShown, [question('a'), question('b')], false)
  const held = steady(before, [question('b')], true)
  expect(held.rows.map((r) => [r.question.id, r.gone])).toEqual([
    ['a', true],
    ['b', false],
  ])
  expect(held.stale).toBe(true)
  expect(ids(steady(held, [question('b')], false))).toEqual(['b'])
})

test('votes that change no order do not make the list stale', () => {
  const before = steady(nothingShown, [question('a', 2), question('b', 1)], false)
  expect(steady(before, [question('a', 3), question('b', 1)], true).stale).toBe(false)
})

test('an empty list shows the first question even while held', () => {
  expect(ids(steady(nothingShown, [question('a')], true))).toEqual(['a'])
})

test('in a held list no row ever changes its place or its text', () => {
  const lists = fc.array(
    fc.uniqueArray(fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e'), votes: fc.nat(9), text: fc.string() }), { selector: (q) => q.id }),
    { minLength: 1 },
  )
  fc.assert(
    fc.property(fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'), { minLength: 1 }), lists, (first, later) => {
      const start = steady(
        nothingShown,
        first.map((id) => question(id)),
        false,
      )
      let shown = start
      for (const now of later) {
        shown = steady(
          shown,
          now.map((q) => question(q.id, q.votes, { text: q.text })),
          true,
        )
        expect(shown.rows.map((r) => [r.question.id, r.question.text])).toEqual(start.rows.map((r) => [r.question.id, r.question.text]))
      }
    }),
  )
})
