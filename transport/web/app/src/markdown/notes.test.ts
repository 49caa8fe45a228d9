import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { marked, notesIn, parted, unfenced, withoutNotes } from './notes'
import { parse } from './parse'

interface Case {
  name: string
  text: string
  attendees: string
  notes: string[]
}

const { cases } = JSON.parse(readFileSync('../../../actors/markdown/testdata/notes.json', 'utf8')) as { cases: Case[] }

/** Returns the source of the notes, from repeated passes over the text. */
function raw(text: string): string[] {
  const notes = notesIn(text)
  if (notes.length === 0) return []
  const rest = notes.reduceRight((t, n) => t.slice(0, n.start) + t.slice(n.end), text)
  return [...notes.map((n) => text.slice(n.start, n.end)), ...raw(rest)]
}

describe('notes for facilitators are cut in the same way as on the server', () => {
  test.each(cases)('$name', ({ text, attendees, notes }) => {
    expect(withoutNotes(text)).toBe(attendees)
    expect(raw(text)).toEqual(notes)
    // In the attendees' text, the page's parser finds no block of notes either.
    expect(parse(attendees, 3) ?? '').not.toMatch(/class="language-notes"|secret/)
  })
})

describe('the content of notes', () => {
  test.each([
    ['a block', '```notes\n# A\n\n- b\n```\nc', ['# A\n\n- b']],
    ['in a list', '- a\n  ```notes\n  one\n    two\n  ```\n', ['one\n  two']],
    ['in a quote', '> ~~~notes\n> one\n> ~~~\n', ['one']],
    ['an element', '<aside id="a>b" class="facilitator">\n\none\n</aside>\n', ['one']],
    ['an element with another in it', '<aside class="facilitator">a<aside>b</aside>c</aside>', ['a<aside>b</aside>c']],
    ['none', 'release notes', []],
  ])('%s', (_, text, says) => expect(parted(text).notes).toEqual(says))
})

describe('the preview', () => {
  test('shows blocks of notes as elements in their places', () => {
    expect(parse(marked('a\n\n```notes\n*b*\n```\n\nc'), 3)).toBe('<p>a</p>\n<aside class="facilitator"><p><em>b</em></p>\n</aside><p>c</p>\n')
    expect(parse(marked('1. a\n   ```notes\n   *b*\n   ```\n2. c'), 3)).toMatch(
      /^<ol>\n<li>.*<aside class="facilitator">\s*<p><em>b<\/em><\/p>\s*<\/aside>.*<\/li>\n<li>.*c.*<\/li>\n<\/ol>\n$/s,
    )
    expect(parse(marked('```notes\n*b*'), 3)).toContain('<em>b</em>')
  })
  test('keeps the number of lines for synchronized scrolling', () => {
    expect(unfenced('a\n```notes\n# b\n```\nc')).toBe('a\n\n# b\n\nc')
  })
})

test('hostile texts take linear time', () => {
  for (const part of ['```notes\n', '<aside\n', '<aside "', '`` ` ', '<!--<aside', '</aside>', '<aside class=facilitator></aside>\n', 'a\r', '> - '])
    expect(withoutNotes('notes\n' + part.repeat(50_000 / part.length)).length).toBeLessThan(60_000)
})
