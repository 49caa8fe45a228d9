import { describe, expect, it, test } from 'vitest'
import { parse } from './parse'

const ref = (n: number, name: string, time = 1) =>
  `<sup class="footnote-ref"><a id="fnref-${name}${time > 1 ? `-${time}` : ''}" href="#fn-${name}">${n}</a></sup>`
const back = (name: string, time = 1) => `<a class="footnote-back" href="#fnref-${name}${time > 1 ? `-${time}` : ''}">↩</a>`
const list = (...items: string[]) => `<section class="footnotes">\n<ol>\n${items.join('')}</ol>\n</section>\n`
const item = (name: string, says: string) => `<li id="fn-${name}">\n${says}</li>\n`

describe('footnotes', () => {
  const cases: [name: string, source: string, html: string][] = [
    ['one', 'A claim[^1].\n\n[^1]: Its *source*.', `<p>A claim${ref(1, '1')}.</p>\n` + list(item('1', `<p>Its <em>source</em>. ${back('1')}</p>\n`))],
    [
      'in the order of the references, not of the notes',
      '[^b] [^A]\n\n[^a]: one\n[^b]: two\n',
      `<p>${ref(1, 'b')} ${ref(2, 'a')}</p>\n` + list(item('b', `<p>two ${back('b')}</p>\n`), item('a', `<p>one ${back('a')}</p>\n`)),
    ],
    [
      'twice',
      'x[^n] y[^n]\n\n[^n]: https://example.org/',
      `<p>x${ref(1, 'n')} y${ref(1, 'n', 2)}</p>\n` +
        list(item('n', `<p><a href="https://example.org/">https://example.org/</a> ${back('n')} ${back('n', 2)}</p>\n`)),
    ],
    [
      'with several paragraphs and code',
      'x[^n]\n\n[^n]: one\nmore\n\n    two\n\n    ```\n    code\n    ```\n\nText.',
      `<p>x${ref(1, 'n')}</p>\n<p>Text.</p>\n` + list(item('n', `<p>one\nmore</p>\n<p>two</p>\n<pre><code>code\n</code></pre>\n<p>${back('n')}</p>\n`)),
    ],
    ['directly after a paragraph', 'x[^n]\n[^n]: one\n# Head', `<p>x${ref(1, 'n')}</p>\n<h3>Head</h3>\n` + list(item('n', `<p>one ${back('n')}</p>\n`))],
    [
      'that refers to another',
      'x[^a]\n\n[^a]: see[^b]\n[^b]: end',
      `<p>x${ref(1, 'a')}</p>\n` + list(item('a', `<p>see${ref(2, 'b')} ${back('a')}</p>\n`), item('b', `<p>end ${back('b')}</p>\n`)),
    ],
    ['that nothing refers to', 'x\n\n[^a]: see[^b]\n[^b]: end', '<p>x</p>\n'],
    ['that does not exist', 'x[^<b>] y', '<p>x[^&lt;b&gt;] y</p>\n'],
    ['in code', '`[^1]`\n\n```\n[^1]\n[^1]: x\n```\n\n[^1]: y', '<p><code>[^1]</code></p>\n<pre><code>[^1]\n[^1]: x\n</code></pre>\n'],
    ['as a link', '[^1](https://example.org/)', '<p><a href="https://example.org/">^1</a></p>\n'],
    ['with an invalid label', 'x[^a "b]\n\n[^a "b]: y z', '<p>x[^a &quot;b]</p>\n<p>[^a &quot;b]: y z</p>\n'],
    ['in a quotation', '> x[^1]\n>\n> [^1]: y', `<blockquote>\n<p>x${ref(1, '1')}</p>\n</blockquote>\n` + list(item('1', `<p>y ${back('1')}</p>\n`))],
    ['defined twice, of which the first is used', 'x[^1]\n\n[^1]: y\n\n[^1]: z', `<p>x${ref(1, '1')}</p>\n` + list(item('1', `<p>y ${back('1')}</p>\n`))],
    ['in another one', 'x[^a] y[^b]\n\n[^a]: [^b]: z w', `<p>x${ref(1, 'a')} y[^b]</p>\n` + list(item('a', `<p>[^b]: z w ${back('a')}</p>\n`))],
    ['referring to itself', 'x[^1]\n\n[^1]: y[^1]', `<p>x${ref(1, '1')}</p>\n` + list(item('1', `<p>y${ref(1, '1', 2)} ${back('1')} ${back('1', 2)}</p>\n`))],
  ]
  for (const [name, source, html] of cases) it(name, () => expect(parse(source, 3)).toBe(html))
})

test('a label is escaped in attributes', () => {
  const html = parse(`x[^a"onclick=x>] [^&quot;]\n\n[^a"onclick=x>]: y\n[^&quot;]: z`, 3)!
  expect(html).toContain('id="fnref-a&quot;onclick=x&gt;"')
  expect(html).toContain('href="#fn-a%22onclick%3Dx%3E"')
  expect(html).toContain('id="fn-&amp;quot;"')
})

test('many footnotes and paragraphs are parsed in linear time', () => {
  let looks = 0
  const search = String.prototype.search
  String.prototype.search = function (this: string, what: RegExp) {
    looks += this.length
    return search.call(this, what)
  }
  try {
    parse('a\n# b\n'.repeat(3000) + Array.from({ length: 2000 }, (_, i) => `[^${i}]: x[^${i + 1}]\n`).join(''), 3)
  } finally {
    String.prototype.search = search
  }
  expect(looks).toBeGreaterThan(0)
  expect(looks).toBeLessThan(40_000_000)
})
