import { describe, expect, it } from 'vitest'
import { format, image, placed, type Kind } from './format'
import { across, anchors, rising } from './together'

const words = { text: 'text', summary: 'A hint' }

/** Formats the text between the bars. The result has bars around the selection. */
function done(kind: Kind, marked: string): string {
  const from = marked.indexOf('|')
  const to = marked.lastIndexOf('|') - 1
  const text = marked.replaceAll('|', '')
  const e = format(kind, text, from, Math.max(from, to), words)
  const out = text.slice(0, e.from) + e.insert + text.slice(e.to)
  return `${out.slice(0, e.select[0])}|${out.slice(e.select[0], e.select[1])}|${out.slice(e.select[1])}`
}

describe('formatting', () => {
  it('adds marks around the selection, and removes them', () => {
    expect(done('bold', 'a |b| c')).toBe('a **|b|** c')
    expect(done('bold', 'a **|b|** c')).toBe('a |b| c')
    expect(done('code', 'a |b| c')).toBe('a `|b|` c')
    expect(done('bold', '||')).toBe('**|text|**')
  })
  it('makes a code block of several lines', () => {
    expect(done('code', '|a\nb|')).toBe('```\n|a\nb|\n```')
  })
  it('makes boxes of whole lines, separated from the text around the lines', () => {
    expect(done('good', 'x\nca|r|e\ny')).toBe('x\n\n<aside class="positive">\n\n|care|\n\n</aside>\n\ny')
    expect(done('hint', '||')).toBe('<details><summary>A hint</summary>\n\n|text|\n\n</details>')
  })
  it('makes links from words and from addresses', () => {
    expect(done('link', '|here|')).toBe('[here](|https://|)')
    expect(done('link', '|https://example.org|')).toBe('[|text|](https://example.org)')
  })
  it('makes lists', () => {
    expect(done('list', '|a\n- b|')).toBe('- a\n- b||')
  })
  it('makes a picture a paragraph of its own, unless it is in running text', () => {
    const cases: [name: string, text: string, after: string][] = [
      ['after an item', '- a\n- b|', '- a\n- b\n\nP'],
      ['on the line below a list', '- a\n|', '- a\n\nP'],
      ['between a list and a text', '1. a\n|\nb', '1. a\n\nP\n\nb'],
      ['between two items', '- a|\n- b', '- a\n\nP\n\n- b'],
      ['after a heading', '# a|\n\nb', '# a\n\nP\n\nb'],
      ['after a quotation', '> a|', '> a\n\nP'],
      ['in running text', 'a |b', 'a Pb'],
      ['after running text', 'a |', 'a P'],
      ['before a word', '|b', 'Pb'],
      ['in an empty text', '|', 'P'],
      ['on an empty line', 'a\n\n|\n\nb', 'a\n\nP\n\nb'],
      ['below a text', 'a\n|', 'a\n\nP'],
    ]
    for (const [name, marked, after] of cases) {
      const at = marked.indexOf('|')
      const text = marked.replace('|', '')
      expect(text.slice(0, at) + placed(text, at, 'P') + text.slice(at), name).toBe(after)
    }
  })
  it('uses the file name as the text of an image', () => {
    expect(image('a [b].png', '/uploads/x.png')).toBe('![a  b](/uploads/x.png)')
  })
})

describe('scrolling together', () => {
  it('finds headings and code', () => {
    expect(anchors('# A\n\ntext\n\n```\n# no\n```\n\n## B\n')).toEqual([0, 4, 8])
  })
  it('interpolates between known places', () => {
    expect(across([100], [10], 200, 110, 50)).toBe(5)
    expect(across([100], [10], 200, 110, 150)).toBe(60)
    expect(across([], [], 200, 100, 200)).toBe(100)
    expect(across([], [], 0, 0, 10)).toBe(0)
  })
  it('leaves out places that do not ascend, and all places if the counts differ', () => {
    expect(rising([1, 2, 3], [10, 5, 30])).toEqual([
      [1, 3],
      [10, 30],
    ])
    expect(rising([1, 2], [1])).toEqual([[], []])
  })
})
