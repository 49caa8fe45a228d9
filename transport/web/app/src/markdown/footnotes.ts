// Footnotes as on GitHub. A reference is [^name] in the text, and the note begins with [^name]: on
// another line. A note contains the next lines of its paragraph, and lines that are indented by
// four columns. The notes are shown at the end, in the order of their references. A note without a
// reference is not shown.
import type { Token, TokenizerAndRendererExtension, Tokens } from 'marked'
import { empty, indented, lineAt } from './boxes'
import { escaped } from './escaped'

const label = String.raw`\[\^([^\]\s[]{1,100})\]`
const defined = new RegExp(String.raw`^ {0,3}${label}:[ \t]*`)
const interrupts = new RegExp(String.raw`\n {0,3}${label}:`)
/** A reference. Brackets with an address after them are a link instead. */
const referred = new RegExp(String.raw`^${label}(?![(:])`)
/** Lines that begin another block. */
const other = /^ {0,3}(?:#|>|[-+*][ \t]|\d{1,9}[.)][ \t]|```|~~~|<|\[(?:\\.|[^\\[\]])+\]:|\$\$|:::|!!!)/i
/**
 * A footnote can end a paragraph only within this distance from the start of the paragraph, in
 * characters. This limits repeated parsing.
 */
const farthest = 4000

interface Footnote extends Tokens.Generic {
  name: string
  tokens: Token[]
}
interface Reference extends Tokens.Generic {
  name: string
  /** The number, or 0 until the footnote is known to exist. */
  number: number
  id: string
}
interface Footnotes extends Tokens.Generic {
  items: { name: string; tokens: Token[]; references: Reference[] }[]
}

/** Whether the parser is inside a footnote. Footnotes cannot contain other footnotes. */
let within = false

/** The footnote at the beginning of a text: its lines and its content. */
export function footnoteAt(src: string): { raw: string; name: string; text: string } | undefined {
  const begin = defined.exec(src)
  if (!begin) return undefined
  let [text, at] = lineAt(src, begin[0].length)
  let [end, gap] = [at, '']
  while (at < src.length) {
    const [line, next] = lineAt(src, at)
    at = next
    if (empty.test(line)) {
      gap += '\n'
      continue
    }
    if (!indented.test(line) && (gap !== '' || other.test(line))) break
    text += gap + '\n' + line.replace(indented, '')
    gap = ''
    end = next
  }
  return text.trim() === '' ? undefined : { raw: src.slice(0, end), name: begin[1]!.toLowerCase(), text }
}

export const footnotes: TokenizerAndRendererExtension = {
  name: 'footnote',
  level: 'block',
  childTokens: ['tokens'],
  start(src) {
    const paragraph = src.slice(0, farthest)
    const end = paragraph.search(/\n[ \t]*\n/)
    const at = (end < 0 ? paragraph : paragraph.slice(0, end)).search(interrupts)
    return at < 0 ? undefined : at + 1
  },
  tokenizer(src) {
    const found = within ? undefined : footnoteAt(src)
    if (!found) return undefined
    within = true
    try {
      return { type: 'footnote', ...found, tokens: this.lexer.blockTokens(found.text, []) }
    } finally {
      within = false
    }
  },
  renderer: () => '',
}

export const footnoteReferences: TokenizerAndRendererExtension = {
  name: 'footnoteReference',
  level: 'inline',
  start: (src) => src.indexOf('[^'),
  tokenizer(src) {
    const found = referred.exec(src)
    return found ? { type: 'footnoteReference', raw: found[0], name: found[1]!.toLowerCase(), number: 0, id: '' } : undefined
  },
  renderer(token) {
    const { raw, name, number, id } = token as Reference
    if (number === 0) return escaped(raw)
    return `<sup class="footnote-ref"><a id="${escaped(id)}" href="#fn-${escaped(encodeURIComponent(name))}">${number}</a></sup>`
  },
}

export const footnoteList: TokenizerAndRendererExtension = {
  name: 'footnotes',
  level: 'block',
  renderer(token) {
    const items = (token as Footnotes).items.map(({ name, tokens, references }) => {
      const back = references.map((r) => `<a class="footnote-back" href="#${escaped(encodeURIComponent(r.id))}">↩</a>`).join(' ')
      const html = this.parser.parse(tokens)
      const said = html.endsWith('</p>\n') ? `${html.slice(0, -'</p>\n'.length)} ${back}</p>\n` : `${html}<p>${back}</p>\n`
      return `<li id="fn-${escaped(name)}">\n${said}</li>\n`
    })
    return `<section class="footnotes">\n<ol>\n${items.join('')}</ol>\n</section>\n`
  },
}

/** Numbers the references to footnotes, and adds the notes at the end. walk visits each token. */
export function numberFootnotes(tokens: Token[], walk: (tokens: Token[], each: (t: Token) => void) => void): void {
  const notes = new Map<string, Footnote>()
  const references = new Map<Footnote | null, Reference[]>([[null, []]])
  const inside = new Set<Token>()
  walk(tokens, (t) => {
    if (t.type === 'footnote') {
      const note = t as Footnote
      references.set(note, [])
      if (!notes.has(note.name)) notes.set(note.name, note)
      walk(note.tokens, (inner) => {
        if (inner.type !== 'footnoteReference') return
        inside.add(inner)
        references.get(note)!.push(inner as Reference)
      })
    } else if (t.type === 'footnoteReference' && !inside.has(t)) references.get(null)!.push(t as Reference)
  })
  const items: Footnotes['items'] = []
  const numbers = new Map<string, number>()
  const waiting: (Footnote | null)[] = [null]
  for (const from of waiting) {
    for (const r of references.get(from)!) {
      const note = notes.get(r.name)
      if (!note) continue
      if (!numbers.has(r.name)) {
        numbers.set(r.name, items.push({ name: r.name, tokens: note.tokens, references: [] }))
        waiting.push(note)
      }
      r.number = numbers.get(r.name)!
      const { references: of } = items[r.number - 1]!
      of.push(r)
      r.id = `fnref-${r.name}` + (of.length > 1 ? `-${of.length}` : '')
    }
  }
  if (items.length > 0) tokens.push({ type: 'footnotes', raw: '', items } as Footnotes)
}
