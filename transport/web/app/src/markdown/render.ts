// Renders any Markdown to safe HTML. The parser's output is untrusted, so it is sanitised as a
// whole.
import DOMPurify from 'dompurify'
import { pathOf, sitePath } from '../device/place'
import { m } from '../messages/compiled/messages.js'
import { parse, plain } from './parse'

// The allowed classes. They belong to boxes (raw HTML around Markdown), code, embeds, footnotes and
// tasks.
const classes = /^(?:language-[\w+#.-]{1,32}|positive|negative|facilitator|note|tip|important|warning|caution|embed|footnotes|footnote-(?:ref|back)|task)$/

/** Whether the sanitised content can load external resources without a click. */
let loads = true

/** The URL of an address, or null if the address is invalid. */
function read(address: string | null): URL | null {
  try {
    return new URL(address ?? '', location.href)
  } catch {
    return null
  }
}

/** The first path segments of this server's pages. */
const here = /^\/(?:$|(?:account|admin|api|certificate|codelabs|help|git|handler|invite|j|login|sandbox|schemas|uploads|verify|\.well-known)(?:\/|$))/

/**
 * Whether a link can work. Relative files are not on this server, unless an import has stored them.
 */
function leads(href: string, url: URL): boolean {
  if (url.origin !== location.origin || /^[#?]/.test(href)) return true
  return /^(?:[a-z][a-z0-9+.-]*:|[\\/])/i.test(href) && here.test(pathOf(url))
}

const purify = DOMPurify()
// In older HTML, link targets have a name instead of an id.
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
      node.removeAttribute('href') // a link whose target does not exist becomes text
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
    // The page's content security policy forbids all other schemes, so the image is shown as
    // missing.
    if (from && from.origin !== location.origin && !/^(?:https|data|blob):$/.test(from.protocol)) node.removeAttribute('src')
    else if (!loads && from?.origin !== location.origin && from?.protocol !== 'data:') {
      node.removeAttribute('src')
      if (from) node.setAttribute('data-src', from.href)
    }
  }
  if (node.tagName === 'INPUT') {
    // The only allowed inputs are the checkboxes of task lists.
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
 * Returns sanitised HTML. foreign means that the author is not a facilitator. Images of other
 * servers then load only after a click, and videos and sounds are removed.
 */
export function sanitize(html: string, foreign = false): string {
  loads = !foreign
  return purify.sanitize(html, foreign ? { ...allowed, FORBID_TAGS: [...allowed.FORBID_TAGS, 'video', 'audio', 'source', 'track', 'picture'] } : allowed)
}

/** Returns sanitised HTML of Markdown. If it cannot be rendered, it is shown as plain text. */
export function render(markdown: string, top = 3): string {
  const html = parse(markdown, top)
  try {
    return html === null ? plain(markdown) : sanitize(html)
  } catch {
    return plain(markdown)
  }
}
