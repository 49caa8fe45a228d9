import { expect, test } from 'vitest'
import { parts, strong } from './strong'

test('marked parts are bold in any word order', () => {
  const text = (a: unknown, b: unknown) => `${String(b)} of ${String(a)} are past`
  expect(parts(text(strong('34'), strong(13, '1,3')))).toEqual([
    { text: '1,3', bold: true },
    { text: ' of ', bold: false },
    { text: '34', bold: true },
    { text: ' are past', bold: false },
  ])
  expect(parts('plain')).toEqual([{ text: 'plain', bold: false }])
})

test('a marked number still chooses the plural', () => {
  expect(Number(strong(2))).toBe(2)
})
