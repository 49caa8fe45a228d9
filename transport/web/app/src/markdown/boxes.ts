// The two Markdown forms of a box: a definition list ("Positive" and ": text")
// and a quotation ("> aside positive"). They become the element that the server's
// import makes of them, too.
import type { TokenizerAndRendererExtension, Tokens } from 'marked'

type Kind = 'positive' | 'negative'

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
