import { expect, test } from 'vitest'
import { Finder, folded } from './find'
import type { Column, Seat } from './floor'

const seat = (name: string): Seat => ({
  id: name,
  name,
  place: null,
  feels: 'silent',
  kind: 'silent',
  since: 0,
  onStep: 0,
  asked: 0,
  text: '',
  here: true,
  asks: false,
  helper: null,
  caughtUp: false,
  began: true,
  simulated: false,
})
const column = (step: number, ...names: string[]): Column => ({ step, title: `S${step}`, seats: names.map(seat) })

test.each([
  ['Zoë', 'zoe'],
  ['  ÅSE ', 'ase'],
  ['Groß', 'gross'],
  ['Łukasz', 'łukasz'],
  ['ﬁn', 'fin'],
  ['李明', '李明'],
])('"%s" is compared as "%s"', (name, as) => expect(folded(name)).toBe(as))

test('exact names come first, then names that begin with the text, then names with a word that begins with it, then other matches', () => {
  const columns = [column(1, 'Leann', 'Mary Ann', 'Bob', 'Anna'), column(2, 'Ánn'), column(0, 'Anneke')]
  const { found, total } = new Finder().search(columns, ' ANN', 10)
  expect(found.map((f) => [f.seat.name, f.step])).toEqual([
    ['Ánn', 2],
    ['Anna', 1],
    ['Anneke', 0],
    ['Mary Ann', 1],
    ['Leann', 1],
  ])
  expect(total).toBe(5)
})

test('only the best matches up to the limit are listed, and all are counted', () => {
  const columns = [column(1, ...Array.from({ length: 500 }, (_, i) => `Not Ann ${i}`)), column(2, 'Ann')]
  const { found, total } = new Finder().search(columns, 'ann', 3)
  expect(found.map((f) => f.seat.name)).toEqual(['Ann', 'Not Ann 0', 'Not Ann 1'])
  expect(total).toBe(501)
})

test('an empty search finds nobody, and a new name is found', () => {
  const finder = new Finder()
  expect(finder.search([column(1, 'Ann')], '  ', 5)).toEqual({ found: [], total: 0 })
  expect(finder.search([column(1, 'Ann')], 'bo', 5).total).toBe(0)
  expect(finder.search([column(1, 'Bo')], 'bo', 5).total).toBe(1)
})
