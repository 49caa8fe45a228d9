import { expect, test } from 'vitest'
import { faultOf, readLines, writeLines } from './pollLines'

test('a question and its options are read from lines', () => {
  expect(readLines('Which one?\n- tea\n- coffee')).toEqual({ question: 'Which one?', options: ['tea', 'coffee'], right: [] })
  expect(readLines('  Which\none?\r\n\r\n* a\n1. b\n2) c\n– d')).toEqual({ question: 'Which one?', options: ['a', 'b', 'c', 'd'], right: [] })
})

test('an [x] marks a right option', () => {
  expect(readLines('2+2?\n- [ ] 3\n- [x] 4\n- [X] four')).toEqual({ question: '2+2?', options: ['3', '4', 'four'], right: [1, 2] })
})

test('a line after an option continues it', () => {
  expect(readLines('Q\n- one\n  and more').options).toEqual(['one and more'])
})

test('a question that begins with a minus is not an option', () => {
  expect(readLines('-5 or 5?\n- -5\n- 5')).toEqual({ question: '-5 or 5?', options: ['-5', '5'], right: [] })
  expect(readLines('')).toEqual({ question: '', options: [], right: [] })
})

test('written lines are read back unchanged', () => {
  const lines = writeLines('Which?', ['a', 'b'], [1])
  expect(lines).toBe('Which?\n- a\n- [x] b')
  expect(readLines(lines)).toEqual({ question: 'Which?', options: ['a', 'b'], right: [1] })
})

test.each([
  ['', 'text', 'question'],
  ['Q'.repeat(501), 'text', 'question_long'],
  ['Card\n- learned\n- unclear', 'text', null],
  ['Card\n- learned', 'text', 'boxes'],
  ['Card\n- 1\n- 2\n- 3\n- 4\n- 5', 'text', 'boxes'],
  ['Card\n- same\n- same', 'text', 'options_same'],
  ['😀'.repeat(500), 'text', null],
  ['Q', 'words', null],
  ['Q\n- a', 'choice', 'options_few'],
  [`Q${'\n- a'.repeat(11)}`, 'several', 'options_many'],
  [`Q\n- a\n- ${'b'.repeat(201)}`, 'choice', 'option_long'],
  ['Q\n- a\n- a', 'choice', 'options_same'],
  ['Q\n- [x] a\n- [x] b', 'choice', 'right_one'],
  ['Q\n- [x] a\n- [x] b', 'several', null],
])('%j as %s has the fault %j', (text, kind, fault) => {
  expect(faultOf(readLines(text), kind)).toBe(fault)
})
