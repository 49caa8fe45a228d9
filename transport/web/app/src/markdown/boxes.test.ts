import { describe, expect, it, test } from 'vitest'
import { parse } from './parse'

describe('boxes', () => {
  const box = (kind: string, html: string) => `<aside class="${kind}">\n${html}</aside>\n`
  const cases: [name: string, source: string, html: string][] = [
    ['a definition', 'Positive\n: Well *done*', box('positive', '<p>Well <em>done</em></p>\n')],
    ['a definition in lower case, with several lines', 'negative\n: one\ntwo\n\nthree', box('negative', '<p>one\ntwo</p>\n') + '<p>three</p>\n'],
    ['a definition after an empty line', 'Positive\n\n: far', box('positive', '<p>far</p>\n')],
    ['text before it', 'before\n\nPositive\n: box', '<p>before</p>\n' + box('positive', '<p>box</p>\n')],
    ['a quotation', '> aside negative\n> # Mind\n>\n> the gap\n\nafter', box('negative', '<h3>Mind</h3>\n<p>the gap</p>\n') + '<p>after</p>\n'],
    ['two boxes', 'Positive\n: a\n\nNegative\n: b', box('positive', '<p>a</p>\n') + box('negative', '<p>b</p>\n')],
    ['the word alone', 'Positive\n\nthinking', '<p>Positive</p>\n<p>thinking</p>\n'],
    ['another word', 'Note\n: x', '<dl>\n<dt>Note</dt>\n<dd>x</dd>\n</dl>\n'],
    [
      'terms and definitions',
      '*Go*\n: a language\n  of 2009\n: a game\n\nRust\n\n: another\n\nText.',
      '<dl>\n<dt><em>Go</em></dt>\n<dd>a language\nof 2009</dd>\n<dd>a game</dd>\n<dt>Rust</dt>\n<dd>another</dd>\n</dl>\n<p>Text.</p>\n',
    ],
    ['a container', ':::tip\nWell *done*\n:::\nafter', box('tip', '<p>Well <em>done</em></p>\n') + '<p>after</p>\n'],
    [
      'a container with a title',
      '::: warning Mind the gap\n\na\n\n```\n:::\n```\n:::',
      box('warning', '<p><strong>Mind the gap</strong></p>\n<p>a</p>\n<pre><code>:::\n</code></pre>\n'),
    ],
    ['a container in another', '::::danger\na\n:::note\nb\n:::\n::::', box('caution', '<p>a\n:::note\nb\n:::</p>\n')],
    ['a container that is not closed', ':::note\na', box('note', '<p>a</p>\n')],
    ['a container of an unknown kind', ':::tabs\na\n:::', '<p>:::tabs\na\n:::</p>\n'],
    [
      'an admonition',
      '!!! note "A title"\n    a\n\n    - b\n\nafter',
      box('note', '<p><strong>A title</strong></p>\n<p>a</p>\n<ul>\n<li>b</li>\n</ul>\n') + '<p>after</p>\n',
    ],
    ['an admonition that is folded', '??? question "Why?"\n    a', box('note', '<p><strong>Why?</strong></p>\n<p>a</p>\n')],
    ['an admonition without content', '!!! note\na', '<p>!!! note\na</p>\n'],
    ['no text', 'Positive\n:', '<p>Positive\n:</p>\n'],
    ['within a paragraph', 'All is\npositive\n: yes', '<p>All is\npositive\n: yes</p>\n'],
    ['in code', '```\nPositive\n: x\n```', '<pre><code>Positive\n: x\n</code></pre>\n'],
    ['another quotation', '> aside from that', '<blockquote>\n<p>aside from that</p>\n</blockquote>\n'],
  ]
  for (const [name, source, html] of cases) it(name, () => expect(parse(source, 3)).toBe(html))

  it('takes linear time for hostile lines', () => {
    const hostile = [
      'Positive\n' + ' \n'.repeat(50_000),
      'Positive\n: ' + 'a\n '.repeat(50_000),
      'Positive\n:' + ' '.repeat(100_000),
      '> aside positive\n' + '>\n'.repeat(50_000) + 'x',
      ':::note\n\n'.repeat(5000),
      '!!! note\n' + '    \n'.repeat(20_000),
      '!!! note\n\n'.repeat(5000),
      'a\n: b\n\n'.repeat(5000),
      'a\n\n'.repeat(10_000),
    ]
    // A regular expression with excessive backtracking would take minutes here.
    for (const source of hostile) expect(parse(source, 3)).not.toBe('')
  })
})

describe('alerts', () => {
  const box = (kind: string, html: string) => `<aside class="${kind}">\n${html}</aside>\n`
  const quote = (html: string) => `<blockquote>\n${html}</blockquote>\n`
  test.each([
    ['of each kind', '> [!CAUTION]\n> Hot *water*', box('caution', '<p>Hot <em>water</em></p>\n')],
    ['in lower case', '> [!note]\n> a', box('note', '<p>a</p>\n')],
    ['with an empty line after the kind', '> [!TIP]\n>\n> a\n>\n> - b', box('tip', '<p>a</p>\n<ul>\n<li>b</li>\n</ul>\n')],
    ['that start with a list', '> [!WARNING]\n> - a', box('warning', '<ul>\n<li>a</li>\n</ul>\n')],
    ['that start with code', '> [!IMPORTANT]\n> ```\n> a\n> ```', box('important', '<pre><code>a\n</code></pre>\n')],
    ['with a lazy continuation line', '> [!NOTE]\n> a\nb\n\nc', box('note', '<p>a\nb</p>\n') + '<p>c</p>\n'],
    ['with spaces after the kind', '> [!NOTE]  \n> a', box('note', '<p>a</p>\n')],
    ['with mathematics', '> [!NOTE]\n> $x$', box('note', '<p><code class="language-math">$x$</code></p>\n')],
    ['in an alert', '> [!NOTE]\n> a\n>\n> > [!TIP]\n> > b', box('note', '<p>a</p>\n' + box('tip', '<p>b</p>\n'))],
    ['in a list', '- > [!NOTE]\n  > a', '<ul>\n<li>' + box('note', '<p>a</p>\n') + '</li>\n</ul>\n'],
    ['with nothing in it', '> [!NOTE]', quote('<p>[!NOTE]</p>\n')],
    ['with words after the kind', '> [!NOTE] a', quote('<p>[!NOTE] a</p>\n')],
    ['of an unknown kind', '> [!FACILITATOR]\n> a', quote('<p>[!FACILITATOR]\na</p>\n')],
    ['not at the beginning', '> a\n> [!NOTE]\n> b', quote('<p>a\n[!NOTE]\nb</p>\n')],
    ['that is escaped', '> \\[!NOTE]\n> a', quote('<p>[!NOTE]\na</p>\n')],
  ])('%s', (_, source, html) => expect(parse(source, 3)).toBe(html))

  it('can be nested 90 levels deep', () => {
    const deep = Array.from({ length: 90 }, (_, i) => `${'> '.repeat(i + 1)}[!NOTE]\n${'> '.repeat(i + 1)}\n`).join('') + `${'> '.repeat(90)}a`
    expect(parse(deep, 3)).toContain('<p>a</p>')
    expect(parse('> [!NOTE]\n> a\n\n'.repeat(3000), 3)!.match(/<aside/g)).toHaveLength(3000)
  })
})
