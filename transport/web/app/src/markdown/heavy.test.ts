import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { heavy } from './heavy'
import { parse, plain } from './parse'

describe('heavy', () => {
  test.each([
    ['a paragraph with some emphasis', '**Note**: use `a_b_c` and *this* ~~that~~.\n'.repeat(50)],
    ['a long list', '- **one** _two_ *three* `four`\n'.repeat(3000)],
    ['a table', '| a | b |\n|---|---|\n' + '| **x** | _y_ |\n'.repeat(2000)],
    ['a quote in a quote', '>'.repeat(20) + ' x'],
    ['code', '```\n' + 'a * b ** c\n'.repeat(200) + '```\n'],
    ['a line of stars', '*'.repeat(50_000)],
  ])('%s is not heavy', (_, text) => expect(heavy(text)).toBe(false))

  test.each([
    ['emphasis that never ends', '***a'.repeat(12_500)],
    ['two alternating marks', '*a_'.repeat(16_000)],
    ['the same on many lines', '*a_*a_*a_*a_*a_\n'.repeat(3000)],
    ['nested quotes', '>'.repeat(4000) + 'x'],
    ['nested lists', '- '.repeat(4000) + 'x'],
    ['nested quotes and lists', '> - '.repeat(200) + 'x'],
    ['strikethrough marks', '~~a~'.repeat(12_500)],
  ])('%s is heavy', (_, text) => {
    expect(heavy(text)).toBe(true)
    expect(parse(text, 3)).toBe(null)
  })

  test('parse returns HTML or null for any text', () => {
    const pieces = fc.constantFrom(
      '*',
      '_',
      '~~',
      '`',
      '[',
      ']',
      '(',
      ')',
      '<',
      '>',
      '!',
      '|',
      '-',
      '#',
      '1. ',
      '\n',
      '\n\n',
      '  ',
      'a',
      'http://x:PORT/',
      '<a href="https://<b>">',
      '&',
      '\\',
    )
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 400 }), (all) => {
        const html = parse(all.join(''), 3)
        expect(html === null || typeof html === 'string').toBe(true)
      }),
    )
  })

  test('plain text has no markup', () => expect(plain('<b>&"')).toBe('<div class="plain">&lt;b&gt;&amp;"</div>'))
})
