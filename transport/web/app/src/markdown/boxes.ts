// The two Markdown forms of a box: a definition list ("Positive" and ": text")
// and a quotation ("> aside positive"). They become the element that the server's
// import makes of them, too. GitHub's alerts ("> [!NOTE]") are boxes as well.
import type { Token, TokenizerAndRendererExtension, Tokens } from 'marked'

type Kind = 'positive' | 'negative' | 'note' | 'tip' | 'important' | 'warning' | 'caution'

/** The definition may stand behind empty lines, and goes on to the next one. */
const defined = /^ {0,3}(positive|negative)[ \t]*\n(?:[ \t]*\n)* *:([^\n]*(?:\n(?![ \t]*(?:\n|$))[^\n]+)*)(?:\n|$)/i
const quoted = /^ {0,3}>[ \t]?aside[ \t]+(positive|negative)[ \t]*(?:\n|$)((?: {0,3}>[^\n]*(?:\n|$))*)/i

interface Box {
  raw: string
  kind: Kind
  text: string
}

/** The box that a text begins with. */
export function boxAt(src: string): Box | undefined {
  const d = defined.exec(src)
  if (d && d[2]!.trim() !== '') return { raw: d[0], kind: d[1]!.toLowerCase() as Kind, text: d[2]!.trim() }
  const q = quoted.exec(src)
  if (q) return { raw: q[0], kind: q[1]!.toLowerCase() as Kind, text: q[2]!.replace(/^ {0,3}> ?/gm, '') }
  return undefined
}

const alerted = /^\[!(note|tip|important|warning|caution)\][ \t]*(?:\n|$)/i

/**
 * Makes a box of a quotation that is an alert: its first line is the kind alone, and
 * something follows. The quotation is read as any other, so what it takes is the same.
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

export const boxes: TokenizerAndRendererExtension = {
  name: 'box',
  level: 'block',
  childTokens: ['tokens'],
  tokenizer(src) {
    const box = boxAt(src)
    return box && { type: 'box', ...box, tokens: this.lexer.blockTokens(box.text, []) }
  },
  renderer(token) {
    const { kind, tokens } = token as Tokens.Generic & { kind: Kind }
    return `<aside class="${kind}">\n${this.parser.parse(tokens ?? [])}</aside>\n`
  },
}
