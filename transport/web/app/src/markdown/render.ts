// Markdown as people may write it to HTML that may be shown. What comes out of
// the parser is never trusted: it is sanitised as a whole.
import DOMPurify from 'dompurify'
import { Marked, type Token, type Tokens } from 'marked'
import { quieten } from './quiet'

const marked = new Marked({ gfm: true, async: false })

// Boxes are raw HTML around Markdown; these are the classes they may have.
const classes = /^(?:language-[\w+#.-]{1,32}|positive|negative)$/

const purify = DOMPurify()
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.hasAttribute('class')) {
    const kept = [...node.classList].filter((c) => classes.test(c))
    if (kept.length > 0) node.className = kept.join(' ')
    else node.removeAttribute('class')
  }
  if (node.tagName === 'A' && node.hasAttribute('href')) {
    const url = new URL(node.getAttribute('href') ?? '', location.href)
    if (url.origin !== location.origin || url.pathname.startsWith('/uploads/')) {
      node.setAttribute('target', '_blank')
      node.setAttribute('rel', 'noopener noreferrer nofollow')
    }
  }
  if (node.tagName === 'IMG') {
    node.setAttribute('loading', 'lazy')
    node.setAttribute('decoding', 'async')
    if (!node.hasAttribute('alt')) node.setAttribute('alt', '')
  }
  if (node.tagName === 'INPUT') {
    // The boxes of task lists.
    if (node.getAttribute('type') !== 'checkbox') node.remove()
    else {
      node.setAttribute('disabled', '')
      node.setAttribute('aria-label', node.hasAttribute('checked') ? '✓' : '–')
    }
  }
  if (node.tagName === 'TABLE' || node.tagName === 'PRE') node.setAttribute('tabindex', '0')
  else node.removeAttribute('tabindex')
})

const allowed = {
  USE_PROFILES: { html: true },
  FORBID_TAGS: ['style', 'form', 'button', 'textarea', 'select', 'option', 'fieldset', 'legend', 'label', 'dialog', 'font', 'center', 'marquee', 'map', 'area'],
  FORBID_ATTR: ['style', 'name', 'autofocus', 'accesskey', 'contenteditable', 'popover', 'popovertarget', 'slot', 'background', 'bgcolor', 'is', 'role'],
  ALLOW_ARIA_ATTR: false,
  ALLOW_DATA_ATTR: false,
  SANITIZE_NAMED_PROPS: true,
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto):|[^a-z]|[a-z+.-]+(?:[^a-z+.\-:]|$))/i,
}

/**
 * Gives sanitised HTML. top is the level of the highest heading in it (3: h3);
 * the others follow, so that the outline of the page has no holes.
 */
export function render(markdown: string, top = 3): string {
  const tokens = marked.lexer(markdown)
  prepare(tokens, top)
  return purify.sanitize(marked.parser(tokens), allowed)
}

function prepare(tokens: Token[], top: number) {
  const headings: Tokens.Heading[] = []
  marked.walkTokens(tokens, (t) => {
    if (t.type === 'heading') headings.push(t as Tokens.Heading)
    else if (t.type === 'html') t.text = quieten(t.text as string)
  })
  // Levels in use, from the highest on, become consecutive ones.
  const levels = [...new Set(headings.map((h) => h.depth))].sort((a, b) => a - b)
  for (const h of headings) h.depth = Math.min(6, top + levels.indexOf(h.depth))
}
