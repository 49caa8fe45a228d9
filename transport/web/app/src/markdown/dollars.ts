// Mathematics in a text, as GitHub writes it: $…$ in a line, $$…$$, and blocks of the
// language math. Here it is only found, and stays in the HTML as code, dollars and
// all; markdown/maths.ts sets it once its program is here. So nothing of it is lost
// where that fails, and the offsets of comments count what was written.
import type { TokenizerAndRendererExtension } from 'marked'
import { escaped } from './escaped'

/** Longer texts between dollars are not formulas, in characters. */
const longest = 5000

/** A formula in a line ends at the next dollar. In "costs $5 and $6" there is no formula. */
const inline = /^\$(?![\s$])(?:\\[^]|[^$\\]){1,5000}\$/
const display = /^\$\$(?:\\[^]|\$(?!\$)|[^$\\]){1,5000}\$\$/
const block = /^ {0,3}\$\$(?:\\[^]|\$(?!\$)|[^$\\]){1,5000}\$\$[ \t]*(?:\n|$)/
/** What ends a paragraph would not be seen within a formula: the server finds notes and checks there. */
const ends = /\n[ \t]*(?:\n|(?:[>*+-][ \t]*)*(?:```|~~~|<[a-z/!?]))/i

/** The formula that a text within a paragraph begins with, behind the character before; '' for none. */
export function formulaAt(src: string, before: string): string {
  if (src[0] !== '$') return ''
  const raw = src[1] === '$' ? display.exec(src)?.[0] : inline.exec(src)?.[0]
  if (!raw || raw.length > longest || ends.test(raw)) return ''
  // Looked at last: it costs as much as there is before it.
  if (/[\p{L}\p{N}$]$/u.test(before.slice(-2))) return ''
  if (src[1] === '$') return /[^$\s]/.test(raw) ? raw : ''
  return /\s\$$/.test(raw) || /\d/.test(src[raw.length] ?? '') ? '' : raw
}

export const formulas: TokenizerAndRendererExtension = {
  name: 'formula',
  level: 'inline',
  start: (src) => src.indexOf('$'),
  tokenizer(src, tokens) {
    const raw = formulaAt(src, tokens.at(-1)?.raw ?? '')
    return raw === '' ? undefined : { type: 'formula', raw }
  },
  renderer: ({ raw }) => `<code class="language-math">${escaped(raw)}</code>`,
}

export const formulaBlocks: TokenizerAndRendererExtension = {
  name: 'formulaBlock',
  level: 'block',
  tokenizer(src) {
    const raw = block.exec(src)?.[0]
    return !raw || ends.test(raw.trimEnd()) || !/[^$\s]/.test(raw) ? undefined : { type: 'formulaBlock', raw }
  },
  renderer: ({ raw }) => `<p><code class="language-math">${escaped(raw.trim())}</code></p>\n`,
}

/** A text with its formulas as something without meaning, for the search for emphasis. */
export function masked(src: string): string {
  if (!src.includes('$')) return src
  let out = ''
  let at = 0
  for (let from = src.indexOf('$'); from >= 0; from = src.indexOf('$', at)) {
    const raw = src[from - 1] === '\\' ? '' : formulaAt(src.slice(from, from + longest + 2), src.slice(Math.max(0, from - 1), from))
    const end = from + Math.max(raw.length, 1)
    out += src.slice(at, from) + (raw === '' ? '$' : '[' + 'a'.repeat(raw.length - 2) + ']')
    at = end
  }
  return out + src.slice(at)
}
