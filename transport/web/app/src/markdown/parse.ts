// Converts Markdown to HTML without sanitising it, so the result is untrusted. This module does not
// need the DOM, so workers can also use it.
import { Marked, type Token, type Tokens } from 'marked'
import { alertOf, boxes, definitionLists } from './boxes'
import { formulaBlocks, formulas, masked } from './dollars'
import { footnoteList, footnoteReferences, footnotes, numberFootnotes } from './footnotes'
import { heavy } from './heavy'
import { quieten } from './quiet'

/** The Markdown parser with all extensions. */
export const marked = new Marked(
  { gfm: true, async: false },
  { extensions: [boxes, definitionLists, formulaBlocks, formulas, footnotes, footnoteReferences, footnoteList], hooks: { emStrongMask: masked } },
)

// The checkboxes of task lists have a class, because people can tick some of them.
marked.use({ renderer: { checkbox: ({ checked }) => `<input class="task" ${checked ? 'checked="" ' : ''}disabled="" type="checkbox"> ` } })

/** Returns HTML that shows the text as written, for a text that cannot be rendered. */
export function plain(markdown: string): string {
  const text = markdown.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<div class="plain">${text}</div>`
}

/**
 * Returns HTML that must still be sanitised, or null if the parser throws or would take too long.
 * top is the level of the highest heading, 3 for h3. The other levels follow, so that the page
 * outline has no gaps.
 */
export function parse(markdown: string, top: number): string | null {
  if (heavy(markdown)) return null
  try {
    const tokens = marked.lexer(markdown)
    prepare(tokens, top)
    numberFootnotes(tokens, (below, each) => void marked.walkTokens(below, each))
    return marked.parser(tokens)
  } catch {
    return null
  }
}

function prepare(tokens: Token[], top: number) {
  const headings: Tokens.Heading[] = []
  void marked.walkTokens(tokens, (t) => {
    if (t.type === 'heading') headings.push(t as Tokens.Heading)
    else if (t.type === 'blockquote') alertOf(t as Tokens.Blockquote)
    else if (t.type === 'html') t.text = quieten(t.text as string)
  })
  // The heading levels that the text uses become consecutive, starting at top.
  const levels = [...new Set(headings.map((h) => h.depth))].sort((a, b) => a - b)
  for (const h of headings) h.depth = Math.min(6, top + levels.indexOf(h.depth))
}
