// Formulas in GitHub's syntax: $…$ in a line, $$…$$, and blocks of the language math. This module
// only finds formulas and writes them to the HTML as code, including their dollars. Once loaded,
// markdown/maths.ts renders them. If that fails, no text is lost, and comment offsets always count
// the written text.
import type { TokenizerAndRendererExtension } from 'marked'
import { escaped } from './escaped'

/** The maximum length of a formula, characters. Longer texts between dollars are not formulas. */
const longest = 5000

/** A formula in a line ends at the next dollar. In "costs $5 and $6" there is no formula. */
const inline = /^\$(?![\s$])(?:\\[^]|[^$\\]){1,5000}\$/
const display = /^\$\$(?:\\[^]|\$(?!\$)|[^$\\]){1,5000}\$\$/
const block = /^ {0,3}\$\$(?:\\[^]|\$(?!\$)|[^$\\]){1,5000}\$\$[ \t]*(?:\n|$)/
/**
 * A formula cannot contain the end of a paragraph, since the server finds notes and checks there.
 */
const ends = /\n[ \t]*(?:\n|(?:[>*+-][ \t]*)*(?:```|~~~|<[a-z/!?]))/i

/** The formula at the beginning of a text, or '' for none. before is the preceding text. */
export function formulaAt(src: string, before: string): string {
  if (src[0] !== '$') return ''
  const raw = src[1] === '$' ? display.exec(src)?.[0] : inline.exec(src)?.[0]
  if (!raw || raw.length > longest || ends.test(raw)) return ''
  // Tested last: its cost grows with the text before.
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

/** A text in which formulas are replaced by neutral characters, for the search for emphasis. */
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
