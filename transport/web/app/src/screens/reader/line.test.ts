import { expect, test } from 'vitest'
import { empty, kinds, look, rank, turn, type Kind, type Notice } from './line'

const of = (...all: Kind[]): Notice[] => all.map((kind) => ({ kind, id: kind })).sort((a, b) => rank(a) - rank(b))
const after = (...steps: [Notice[], boolean?][]) => steps.reduce((line, [notices, held]) => look(line, notices, held ?? false), empty).shown

test('of several new notices, the most urgent one is shown', () => {
  for (const [i, kind] of kinds.entries()) expect(after([of(...kinds.slice(i))])).toBe(kind)
  expect(after([[]])).toBeNull()
})

test.each<[string, [Notice[], boolean?][], Kind]>([
  ['a new notice that is more urgent replaces the shown notice', [[of('pin')], [of('pin', 'poll')]], 'poll'],
  ['a new notice that is less urgent waits', [[of('coming')], [of('coming', 'poll')]], 'coming'],
  ['no notice replaces a line in which somebody writes', [[of('direct')], [of('direct', 'broadcast'), true]], 'direct'],
  ['a dismissed notice is replaced by the next one', [[of('direct', 'pin')], [of('pin')]], 'pin'],
  ['a held notice that is done is replaced', [[of('direct')], [of('broadcast'), true]], 'broadcast'],
])('%s', (_, steps, shown) => expect(after(...steps)).toBe(shown))

test('a notice that the person selected stays until a new notice is more urgent', () => {
  const all = of('direct', 'poll', 'pin')
  let line = look(empty, all, false)
  line = turn(line, all)
  expect(line.shown).toBe('poll')
  line = look(line, all, false)
  expect(line.shown).toBe('poll')
  expect(turn(turn(line, all), all).shown).toBe('direct')
  expect(look(line, of('direct', 'poll', 'pin', 'coming'), false).shown).toBe('coming')
  expect(turn(empty, []).shown).toBeNull()
})
