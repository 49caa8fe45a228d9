// Renders any Markdown to HTML that is safe to show. The output of the parser is never
// trusted: it is sanitised as a whole.
import DOMPurify from 'dompurify'
import { pathOf, sitePath } from '../device/place'
import { m } from '../messages/compiled/messages.js'
import { parse, plain } from './parse'

// Boxes are raw HTML around Markdown. These are the allowed classes of boxes, code, embeds,
// footnotes and tasks.
const classes = /^(?:language-[\w+#.-]{1,32}|positive|negative|facilitator|note|tip|important|warning|caution|embed|footnotes|footnote-(?:ref|back)|task)$/

/** Whether the sanitised content can load from elsewhere without a press. */
let loads = true

/** The address that a text names; null if it is not an address. */
function read(address: string | null): URL | null {
  try {
    return new URL(address ?? '', location.href)
  } catch {
    return null
  }
}

/** The first segments of this server's paths. */
const here = /^\/(?:$|(?:account|admin|api|certificate|codelabs|help|git|handler|invite|j|login|sandbox|schemas|uploads|verify|\.well-known)(?:\/|$))/

/** Whether a link of a text leads somewhere: a file beside the text is not here, unless an import has brought it. */
function leads(href: string, url: URL): boolean {
  if (url.origin !== location.origin || /^[#?]/.test(href)) return true
  return /^(?:[a-z][a-z0-9+.-]*:|[\\/])/i.test(href) && here.test(pathOf(url))
}

const purify = DOMPurify()
// Old places have a name in the place of an id.
purify.addHook('beforeSanitizeAttributes', (node) => {
  if (node.tagName === 'A' && !node.id && node.hasAttribute('name')) node.id = node.getAttribute('name')!
})
purify.addHook('afterSanitizeAttributes', (node) => {
  if (node.hasAttribute('class')) {
    const kept = [...node.classList].filter((c) => classes.test(c))
    if (kept.length > 0) node.className = kept.join(' ')
    else node.removeAttribute('class')
  }
  if (node.tagName === 'A' && node.hasAttribute('href')) {
    const href = sitePath(node.getAttribute('href')!.trim())
    node.setAttribute('href', href)
    const url = read(href)
    if (!url || !leads(href, url)) {
      node.removeAttribute('href') // a link that nobody can follow is text
      if (href !== '') node.setAttribute('data-dead', href)
    } else if (url.origin !== location.origin || pathOf(url).startsWith('/uploads/')) {
      node.setAttribute('target', '_blank')
      node.setAttribute('rel', 'noopener noreferrer nofollow')
    }
  }
  if (node.tagName === 'IMG') {
    node.setAttribute('loading', 'lazy')
    node.setAttribute('decoding', 'async')
    if (!node.hasAttribute('alt')) node.setAttribute('alt', '')
    node.removeAttribute('srcset')
    if (node.hasAttribute('src')) node.setAttribute('src', sitePath(node.getAttribute('src')!.trim()))
    const from = read(node.getAttribute('src'))
    // The policy of the page lets none of these load: it says that the picture is missing.
    if (from && from.origin !== location.origin && !/^(?:https|data|blob):$/.test(from.protocol)) node.removeAttribute('src')
    else if (!loads && from?.origin !== location.origin && from?.protocol !== 'data:') {
      node.removeAttribute('src')
      if (from) node.setAttribute('data-src', from.href)
    }
  }
  if (node.tagName === 'INPUT') {
    // The boxes of task lists.
    if (node.getAttribute('type') !== 'checkbox') node.remove()
    else {
      node.setAttribute('disabled', '')
      node.setAttribute('aria-label', node.hasAttribute('checked') ? m.task_done() : m.task_open())
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
 * Gives sanitised HTML. foreign says that the text is of somebody who does not
 * lead here: what it would load from elsewhere waits for a click.
 */
export function sanitize(html: string, foreign = false): string {
  loads = !foreign
  return purify.sanitize(html, foreign ? { ...allowed, FORBID_TAGS: [...allowed.FORBID_TAGS, 'video', 'audio', 'source', 'track', 'picture'] } : allowed)
}

/** Gives sanitised HTML of Markdown: as plain text what cannot be laid out. */
export function render(markdown: string, top = 3): string {
  const html = parse(markdown, top)
  try {
    return html === null ? plain(markdown) : sanitize(html)
  } catch {
    return plain(markdown)
  }
}
