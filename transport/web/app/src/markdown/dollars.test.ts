import { describe, expect, test } from 'vitest'
import { formulaAt, masked } from './dollars'
import { parse } from './parse'

const code = (raw: string) => `<code class="language-math">${raw}</code>`
const block = (raw: string) => `<p><code class="language-math">${raw}</code></p>\n`

describe('formulas in a text', () => {
  test.each([
    ['in a line', 'so $x^2$ is', `<p>so ${code('$x^2$')} is</p>\n`],
    ['prices', 'costs $5 and $6', '<p>costs $5 and $6</p>\n'],
    ['a price and a formula', 'for $5, $x$', `<p>for $5, ${code('$x$')}</p>\n`],
    ['prices with a country', 'US$5 and CA$6', '<p>US$5 and CA$6</p>\n'],
    ['a space after the first dollar', 'a $ x$ b', '<p>a $ x$ b</p>\n'],
    ['a space before the last dollar', 'a $x $ b', '<p>a $x $ b</p>\n'],
    ['a digit after the last dollar', 'a $x$5', '<p>a $x$5</p>\n'],
    ['a letter after the last dollar', 'the $n$th', `<p>the ${code('$n$')}th</p>\n`],
    ['an escaped dollar', 'a \\$x$ b', '<p>a $x$ b</p>\n'],
    ['an escaped dollar within', '$\\text{5\\$}$', `<p>${code('$\\text{5\\$}$')}</p>\n`],
    ['marks of emphasis within', '*a $x_1*y_2$ b*', `<p><em>a ${code('$x_1*y_2$')} b</em></p>\n`],
    ['HTML within', '$a<b>c$', `<p>${code('$a&lt;b&gt;c$')}</p>\n`],
    ['backticks around', '$`a_b`$', `<p>${code('$`a_b`$')}</p>\n`],
    ['in code', '`$x$`', '<p><code>$x$</code></p>\n'],
    ['in a heading', '# $x$', `<h3>${code('$x$')}</h3>\n`],
    ['a block on one line', '$$x$$', block('$$x$$')],
    ['a block on several lines', '$$\na\n- b\n= c\n$$\n\nz', block('$$\na\n- b\n= c\n$$') + '<p>z</p>\n'],
    ['a block after words', 'so\n$$\nx\n$$\nis', `<p>so\n${code('$$\nx\n$$')}\nis</p>\n`],
    ['a block with an empty line is not a formula', '$$\na\n\nb\n$$', '<p>$$\na</p>\n<p>b\n$$</p>\n'],
    ['an empty block is not a formula', '$$ $$', '<p>$$ $$</p>\n'],
    ['a fence', '```math\nx\n```', '<pre><code class="language-math">x\n</code></pre>\n'],
    [
      'in a cell',
      '| a |\n|---|\n| $x$ |',
      `<table>\n<thead>\n<tr>\n<th>a</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>${code('$x$')}</td>\n</tr>\n</tbody></table>\n`,
    ],
  ])('%s', (_, source, html) => expect(parse(source, 3)).toBe(html))

  test('a block never hides marks of notes and checks, which the server looks for', () => {
    for (const inside of ['```check build\nIt builds\n```', '> ~~~notes\n> secret\n> ~~~', '<aside class="facilitator">\nsecret\n</aside>'])
      expect(parse(`$$\n${inside}\n$$`, 3)).not.toContain('language-math">$$')
  })

  test('the text of a formula is the source text', () => {
    for (const raw of ['$x$', '$`x`$', '$$\nx\n$$']) expect(formulaAt(raw, '')).toBe(raw)
  })

  test('masked text keeps its length', () => {
    const text = 'a *$x_1*y_2$ $5 \\$ $$a$$ $b$'
    expect(masked(text)).toHaveLength(text.length)
    expect(masked(text)).not.toContain('y_2')
  })
})

describe('hostile dollars', () => {
  // A search through the rest of the text at each dollar would take minutes here.
  test.each([
    ['thousands alone', '$'.repeat(50_000)],
    ['with letters', '$a '.repeat(16_000)],
    ['with letters, and closed', '$a $'.repeat(12_000)],
    ['pairs', '$$a '.repeat(12_000)],
    ['pairs on lines', '$$a\n'.repeat(12_000)],
    ['pairs and empty lines', '$$\n\n'.repeat(12_000)],
    ['never closed', '$' + 'a'.repeat(49_000)],
    ['escaped', '$\\'.repeat(24_000)],
    ['very long', `$${'x'.repeat(49_000)}$`],
  ])('%s', (_, source) => {
    const html = parse(source, 3)
    expect(html === null || typeof html === 'string').toBe(true)
    masked(source)
  })
})
