import { expect, test } from 'vitest'
import { calledBy } from './words'

test.each([
  ['Yusuf Demir', ['Yusuf Demir', 'Lars Jensen'], 'Yusuf'],
  ['Lars Jensen', ['Lars Eriksson', 'Lars Jensen'], 'Lars Jensen'],
  ['Lars Jensen', ['Lars', 'Lars Jensen'], 'Lars Jensen'],
  ['Lars', ['Lars', 'Lars Jensen'], 'Lars'],
  ['Bea', ['Bea', 'Beatrice Long'], 'Bea'],
  ['Team 7', ['Team 7'], 'Team 7'],
  ['Nguyễn Thị Hương', [], 'Nguyễn'],
  ['ليلى حداد', ['Sam'], 'ليلى'],
])('%s among %j is called %s', (name, room, called) => {
  expect(calledBy(name, room)).toBe(called)
})
