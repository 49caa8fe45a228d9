// Formulas in GitHub's syntax: $…$ in a line, $$…$$, and blocks of the language math. This module
// only finds formulas and writes them to the HTML as code, including their dollars. The module
// markdown/maths.ts renders them later. If rendering fails, no text is lost. The offsets of
// comments always count the written text.
import type { TokenizerAndRendererExtension } from 'marked'
import { escaped } from './escaped'

/**
 * The maximum length of a formula, in characters. Longer texts between dollars are not formulas.
 */
const longest = 5000

/** A formula in a line ends at the next dollar. The text "costs $5 and $6" contains no formula. */
const inline = /^\$(?![\s$])(?:\\[^]|[^$\\]){1,5000}\$/
const display = /^\$\$(?:\\[^]|\$(?!\$)|[^$\\]){1,5000}\$\$/
const block = /^ {0,3}\$\$(?:\\[^]|\$(?!\$)|[^$\\]){1,5000}\$\$[ \t]*(?:\n|$)/
/**
 * A formula cannot contain the end of a paragraph, because the server finds notes and checks there.
 */
const ends = /\n[ \t]*(?:\n|(?:[>*+-][ \t]*)*(?:```|~~~|<[a-z/!?]))/i

/**
 * Returns the formula at the beginning of a text, or '' without a formula. before is the preceding
 * text.
 */
export function formulaAt(src: string, before: string): string {
  if (src[0] !== '$') return ''
  const raw = src[1] === '$' ? display.exec(src)?.[0] : inline.exec(src)?.[0]
  if (!raw || raw.length > longest || ends.test(raw)) return ''
  // This condition is tested last, because its cost grows with the preceding text.
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

/**
 * Returns a text in which neutral characters replace the formulas, so that the parser finds no
 * emphasis in them.
 */
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
