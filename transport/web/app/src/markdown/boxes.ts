// The Markdown forms of a box. A box is a definition list ("Positive" and ": text"), a quotation
// ("> aside positive") or one of GitHub's alerts ("> [!NOTE]"). The boxes of other programs begin
// with three colons, exclamation marks or question marks. All become <aside> elements. The server's
// import writes the same element for the first two.
import type { Token, TokenizerAndRendererExtension, Tokens } from 'marked'

type Kind = 'positive' | 'negative' | 'note' | 'tip' | 'important' | 'warning' | 'caution'

/** The definition in a box can follow after empty lines, and ends at the next empty line. */
const defined = /^ {0,3}(positive|negative)[ \t]*\n(?:[ \t]*\n)* *:([^\n]*(?:\n(?![ \t]*(?:\n|$))[^\n]+)*)(?:\n|$)/i
const quoted = /^ {0,3}>[ \t]?aside[ \t]+(positive|negative)[ \t]*(?:\n|$)((?: {0,3}>[^\n]*(?:\n|$))*)/i

/** Maps the box names of other programs to the kinds of boxes here. */
const kinds: Readonly<Record<string, Kind>> = {
  note: 'note',
  info: 'note',
  abstract: 'note',
  summary: 'note',
  example: 'note',
  question: 'note',
  todo: 'note',
  tip: 'tip',
  hint: 'tip',
  success: 'positive',
  positive: 'positive',
  negative: 'negative',
  important: 'important',
  attention: 'important',
  warning: 'warning',
  caution: 'caution',
  danger: 'caution',
  error: 'caution',
  failure: 'caution',
  bug: 'caution',
}
const container = /^ {0,3}(:{3,})[ \t]*\{?\.?([a-z]+)\}?[ \t]*([^\n]*)(?:\n|$)/i
const closing = /^ {0,3}(:{3,})[ \t]*$/
const admonition = /^ {0,3}(?:!!!|\?\?\?\+?)[ \t]+([a-z]+)[ \t]*(?:"([^"\n]*)")?[ \t]*(?:\n|$)/i
/** A line that is indented by a tab or by four spaces. */
export const indented = /^(?: {4}|\t)/
/** A blank line. */
export const empty = /^[ \t]*$/

/** The line at a position, without its line ending, and the start of the next line. */
export function lineAt(src: string, at: number): [line: string, next: number] {
  const end = src.indexOf('\n', at)
  return end < 0 ? [src.slice(at), src.length] : [src.slice(at, end), end + 1]
}

/**
 * A box in the syntax of Docusaurus and VuePress (:::) or Material for MkDocs (!!! and ???). An
 * unclosed box extends to the end of the text.
 */
function foreignAt(src: string): Box | undefined {
  const c = container.exec(src)
  const kind = c && kinds[c[2]!.toLowerCase()]
  if (c && kind) {
    let [at, inner, fenced] = [c[0].length, c[0].length, false]
    while (at < src.length) {
      const [line, next] = lineAt(src, at)
      if (/^ {0,3}(?:```|~~~)/.test(line)) fenced = !fenced
      const end = fenced ? null : closing.exec(line)
      inner = end ? at : next
      at = next
      if (end && end[1]!.length >= c[1]!.length) break
      inner = next
    }
    return { raw: src.slice(0, at), kind, text: titled(c[3]!.trim().replace(/^\[(.*)\]$/, '$1'), src.slice(c[0].length, inner)) }
  }
  const a = admonition.exec(src)
  const named = a && kinds[a[1]!.toLowerCase()]
  if (!a || !named) return undefined
  let at = a[0].length
  let end = at
  while (at < src.length) {
    const [line, next] = lineAt(src, at)
    if (indented.test(line) && !empty.test(line)) end = next
    else if (!empty.test(line)) break
    at = next
  }
  if (end === a[0].length) return undefined
  return { raw: src.slice(0, end), kind: named, text: titled(a[2] ?? '', src.slice(a[0].length, end).replace(/^(?: {4}|\t)/gm, '')) }
}

const titled = (title: string, text: string) => (title === '' ? text : `**${title}**\n\n${text}`)

interface Box {
  raw: string
  kind: Kind
  text: string
}

/** The box at the beginning of a text. */
export function boxAt(src: string): Box | undefined {
  const d = defined.exec(src)
  if (d && d[2]!.trim() !== '') return { raw: d[0], kind: d[1]!.toLowerCase() as Kind, text: d[2]!.trim() }
  const q = quoted.exec(src)
  if (q) return { raw: q[0], kind: q[1]!.toLowerCase() as Kind, text: q[2]!.replace(/^ {0,3}> ?/gm, '') }
  return foreignAt(src)
}

const alerted = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i

/**
 * Converts a quotation to a box if it is an alert: its first line contains only the kind, and more
 * lines follow. The quotation extends as far as it would without an alert.
 */
export function alertOf(quote: Tokens.Blockquote): void {
  const first = quote.tokens[0] as Tokens.Paragraph | undefined
  const found = first?.type === 'paragraph' ? alerted.exec(first.text) : null
  if (!first || !found) return
  const words = first.tokens[0] as Tokens.Text | undefined
  const mark = `[!${found[1]!}]`
  if (words?.type !== 'text' || !words.text.startsWith(mark)) return
  if (found[0].length === first.text.length) {
    if (quote.tokens.every((t, i) => i === 0 || t.type === 'space')) return
    quote.tokens.shift()
  } else {
    words.text = words.raw = words.text.slice(mark.length).replace(/^[ \t]*\n?/, '')
    if (words.text === '') first.tokens.shift()
    if (first.tokens[0]?.type === 'br') first.tokens.shift()
  }
  Object.assign(quote as Token, { type: 'box', kind: found[1]!.toLowerCase() })
}

interface Definitions extends Tokens.Generic {
  items: { term: boolean; tokens: Token[] }[]
}

const meaning = /^ {0,3}:[ \t]+(\S.*)$/
/** Lines that begin another block are not terms. */
const other = /^[ \t]*(?:$|[:>#|`~]|[-+*][ \t]|\d{1,9}[.)][ \t]|<|(?:positive|negative)[ \t]*$)/i

/**
 * Returns the position of the first definition of the term at a position, or -1 if no term is
 * there.
 */
function meaningOf(src: string, at: number): number {
  const [term, next] = lineAt(src, at)
  if (other.test(term) || /^(?: {4}|\t)/.test(term)) return -1
  const [first, behind] = lineAt(src, next)
  if (meaning.test(first)) return next
  return empty.test(first) && next < src.length && meaning.test(lineAt(src, behind)[0]) ? behind : -1
}

/** Definition lists as in PHP Markdown Extra, which Pandoc also supports. */
export const definitionLists: TokenizerAndRendererExtension = {
  name: 'definitions',
  level: 'block',
  tokenizer(src) {
    let at = meaningOf(src, 0)
    if (at < 0) return undefined
    const items: Definitions['items'] = [{ term: true, tokens: this.lexer.inlineTokens(lineAt(src, 0)[0].trim()) }]
    let end = at
    while (at < src.length) {
      const [line, next] = lineAt(src, at)
      const found = meaning.exec(line)
      if (found) items.push({ term: false, tokens: this.lexer.inlineTokens(found[1]!) })
      else if (/^(?: {2,}|\t)\S/.test(line)) items.at(-1)!.tokens.push(...this.lexer.inlineTokens('\n' + line.trim()))
      else if (!other.test(line) && meaningOf(src, at) < 0) items.at(-1)!.tokens.push(...this.lexer.inlineTokens('\n' + line))
      else {
        // The next term can follow after one empty line.
        const from = empty.test(line) ? next : at
        const more = from < src.length ? meaningOf(src, from) : -1
        if (more < 0) break
        items.push({ term: true, tokens: this.lexer.inlineTokens(lineAt(src, from)[0].trim()) })
        at = end = more
        continue
      }
      at = end = next
    }
    return { type: 'definitions', raw: src.slice(0, end), items }
  },
  renderer(token) {
    const items = (token as Definitions).items.map((i) =>
      i.term ? `<dt>${this.parser.parseInline(i.tokens)}</dt>` : `<dd>${this.parser.parseInline(i.tokens)}</dd>`,
    )
    return `<dl>\n${items.join('\n')}\n</dl>\n`
  },
}

/** The maximum sum of the weights of nested boxes. Each level is parsed once more. */
const maxDepth = 100
let deep = 0

export const boxes: TokenizerAndRendererExtension = {
  name: 'box',
  level: 'block',
  childTokens: ['tokens'],
  tokenizer(src) {
    const box = deep < maxDepth ? boxAt(src) : undefined
    if (!box) return undefined
    const foreign = /^ {0,3}[:!?]/.test(src)
    // Only the boxes of other programs count, because each level of them can be as long as the
    // text.
    const weight = foreign ? 10 : 0
    deep += weight
    try {
      return { type: 'box', ...box, tokens: this.lexer.blockTokens(box.text, []) }
    } finally {
      deep -= weight
    }
  },
  renderer(token) {
    const { kind, tokens } = token as Tokens.Generic & { kind: Kind }
    return `<aside class="${kind}">\n${this.parser.parse(tokens ?? [])}</aside>\n`
  },
}
