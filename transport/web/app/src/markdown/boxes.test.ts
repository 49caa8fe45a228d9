import { describe, expect, it } from 'vitest'
import { parse } from './parse'

describe('boxes', () => {
  const box = (kind: string, html: string) => `<aside class="${kind}">\n${html}</aside>\n`
  const cases: [name: string, source: string, html: string][] = [
    ['a definition', 'Positive\n: Well *done*', box('positive', '<p>Well <em>done</em></p>\n')],
    ['a definition in small letters, with several lines', 'negative\n: one\ntwo\n\nthree', box('negative', '<p>one\ntwo</p>\n') + '<p>three</p>\n'],
    ['a definition behind an empty line', 'Positive\n\n: far', box('positive', '<p>far</p>\n')],
    ['text before it', 'before\n\nPositive\n: box', '<p>before</p>\n' + box('positive', '<p>box</p>\n')],
    ['a quotation', '> aside negative\n> # Mind\n>\n> the gap\n\nafter', box('negative', '<h3>Mind</h3>\n<p>the gap</p>\n') + '<p>after</p>\n'],
    ['two of them', 'Positive\n: a\n\nNegative\n: b', box('positive', '<p>a</p>\n') + box('negative', '<p>b</p>\n')],
    ['the word alone', 'Positive\n\nthinking', '<p>Positive</p>\n<p>thinking</p>\n'],
    ['another word', 'Note\n: x', '<p>Note\n: x</p>\n'],
    ['no text', 'Positive\n:', '<p>Positive\n:</p>\n'],
    ['within a paragraph', 'All is\npositive\n: yes', '<p>All is\npositive\n: yes</p>\n'],
    ['in code', '```\nPositive\n: x\n```', '<pre><code>Positive\n: x\n</code></pre>\n'],
    ['another quotation', '> aside from that', '<blockquote>\n<p>aside from that</p>\n</blockquote>\n'],
  ]
  for (const [name, source, html] of cases) it(name, () => expect(parse(source, 3)).toBe(html))

  it('takes linear time of hostile lines', () => {
    const hostile = [
      'Positive\n' + ' \n'.repeat(50_000),
      'Positive\n: ' + 'a\n '.repeat(50_000),
      'Positive\n:' + ' '.repeat(100_000),
      '> aside positive\n' + '>\n'.repeat(50_000) + 'x',
    ]
    // A regular expression that tries again and again would take minutes here.
    for (const source of hostile) expect(parse(source, 3)).not.toBe('')
  })
})
