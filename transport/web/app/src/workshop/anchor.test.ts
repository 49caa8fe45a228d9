import { expect, test } from 'vitest'
import { anchorKey, locate } from './anchor'
import { contentHash } from './hash'

test('contents have the same hash as in other clients', () => {
  expect(['', 'hello', '한글'].map(contentHash)).toEqual(['811c9dc5', '4f9f2cab', 'b75d6ac1'])
})

const thread = (start: number, end: number, words: string) => ({ start_offset: start, end_offset: end, selected_text: words })

test('a thread is located at its offsets', () => {
  expect(locate('one two one', thread(4, 7, 'two'))).toEqual({ start: 4, end: 7 })
})

test('a thread with wrong offsets is located at the nearest occurrence of its words', () => {
  const text = 'one two one two one two'
  expect(locate(text, thread(10, 13, 'two'))).toEqual({ start: 12, end: 15 })
  expect(locate(text, thread(0, 3, 'two'))).toEqual({ start: 4, end: 7 })
  expect(locate(text, thread(100, 103, 'two'))).toEqual({ start: 20, end: 23 })
})

test('white space between the words of a thread can differ', () => {
  expect(locate('a  list\nof words', thread(90, 99, 'list of words'))).toEqual({ start: 3, end: 16 })
  expect(locate('(a.b) [c]', thread(50, 59, '(a.b) [c]'))).toEqual({ start: 0, end: 9 })
})

test('a thread whose words are no longer in the text is not located', () => {
  expect(locate('something else', thread(0, 3, 'two'))).toBeNull()
  expect(locate('   ', thread(0, 3, '   '))).toEqual({ start: 0, end: 3 })
  expect(locate('x', thread(0, 3, '   '))).toBeNull()
})

test('keys contain the target, the hash and the offsets', () => {
  expect(anchorKey({ type: 'step', id: 's1' }, 'abc', { start: 1, end: 2 })).toBe('step|s1|abc|1|2')
  expect(anchorKey({ type: 'guide' }, 'abc', { start: 1, end: 2 })).toBe('guide|guide|abc|1|2')
})
