// @vitest-environment node
import { expect, test } from 'vitest'
import { fragmentOf, slugOf } from './anchors'

test('headings get the same ids as on GitHub', () => {
  for (const [text, slug] of [
    ['Second part', 'second-part'],
    ['  Q&A: what (now)? ', 'qa-what-now'],
    ['Über “uns” — 2.0', 'über-uns--20'],
    ['snake_case and-dash', 'snake_case-and-dash'],
    ['步骤 一', '步骤-一'],
    ['🚀', ''],
  ] as const)
    expect(slugOf(text)).toBe(slug)
})

test('a fragment is decoded if its escapes are valid', () => {
  expect(fragmentOf('#%C3%BCber')).toBe('über')
  expect(fragmentOf('#100%')).toBe('100%')
})
