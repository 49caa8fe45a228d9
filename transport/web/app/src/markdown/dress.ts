// Makes additions to rendered Markdown, such as copy buttons, syntax colours, formulas and
// diagrams. Comments locate their text by counting characters. In a text that can have comments,
// only one addition changes the characters: emoji replace their names. Comments then search for
// their text (workshop/anchor.ts).
import { copy } from '../device/copy'
import { commandsOf, linesOf } from './commands'
import { withTexts } from '../messages/texts'

export interface Words {
  /** The label of the copy button. For a terminal listing it contains the number of commands. */
  copy: (commands: number | null) => string
  /** The label of the button that loads a picture from another server. */
  picture: (host: string) => string
  /** The label of an image that can be enlarged, and the text in place of a missing image. */
  enlarges: (alt: string) => string
  missing: (alt: string) => string
  enlarge(img: HTMLImageElement): void
  /** The title for this kind of box. */
  box: Readonly<Record<string, () => string>>
  /** Whether pages of other servers can be shown in frames, if the server allows them. */
  embeds: boolean
  /** The labels for the footnotes, for one footnote, and for its link back. */
  footnotes: string
  footnote: (number: string) => string
  back: string
  /** Called after code was copied. The returned label is shown on the button for a moment. */
  copied(): string
  /** Called if the code could not be copied. */
  failed(): void
  /** Called after an addition has replaced text or elements, for example by coloured elements. */
  changed(): void
}

/**
 * If the first line has more characters than this, the copy button is above the code. In a listing
 * with commands, whose button has a longer label, the limit is 8 characters less.
 */
const beside = () => (matchMedia('(max-width: 640px)').matches ? 14 : 50)

/** The time for which the button shows that the code was copied, in milliseconds. */
const moment = 2000

/** Images of at most this width are inline symbols, in CSS pixels. */
const sign = 48

/** Makes an image enlargeable once it has loaded, and shows a text if it fails to load. */
function picture(img: HTMLImageElement, words: Words) {
  const missing = () => {
    // The text has the height of a line, like the image before it, so nothing moves.
    const place = document.createElement('span')
    place.className = 'missing'
    place.role = 'img'
    place.ariaLabel = place.dataset.says = words.missing(img.alt)
    const [width, height] = [img.getAttribute('width'), img.getAttribute('height')]
    if (/^\d+$/.test(width ?? '')) {
      place.style.width = `${width!}px`
      if (/^\d+$/.test(height ?? '')) place.style.aspectRatio = `${width!} / ${height!}`
    }
    img.replaceWith(place)
  }
  const here = () => {
    if (img.naturalWidth <= sign || img.closest('a, button, summary')) return
    img.tabIndex = 0
    img.role = 'button'
    img.ariaLabel = img.title = words.enlarges(img.alt)
    img.onclick = () => words.enlarge(img)
    img.onkeydown = (e) => {
      if (e.key !== 'Enter' && e.key !== ' ') return
      e.preventDefault()
      words.enlarge(img)
    }
  }
  if (!img.hasAttribute('src')) return missing()
  img.onerror = missing
  img.onload = here
  if (img.complete && img.naturalWidth > 0) here()
}

/** Dims prompts and output, so that the commands stand out. */
function quietOutput(code: HTMLElement, language: string) {
  const parts = document.createDocumentFragment()
  for (const { text, typed } of linesOf(language, code.textContent ?? '')) {
    if (typed) {
      parts.append(text)
      continue
    }
    const span = document.createElement('span')
    span.className = 'output'
    span.textContent = text
    parts.append(span)
  }
  code.replaceChildren(parts)
}

/** Makes all additions below root. The returned function stops them. */
export function dress(root: HTMLElement, words: Words): () => void {
  let stopped = false
  if (/:[a-z0-9_+-]+:/.test(root.textContent)) {
    void import('./emoji').then(({ showEmoji }) => stopped || (showEmoji(root) && words.changed())).catch(() => {}) // the names of emoji are readable too
  }
  for (const pre of root.querySelectorAll('pre')) {
    const code = pre.querySelector('code')
    if (!code || code.classList.contains('language-math')) continue
    const frame = document.createElement('div')
    frame.className = 'code'
    pre.replaceWith(frame)
    if (code.classList.contains('language-check')) {
      frame.classList.add('check') // a check is text for people, not code to copy
      frame.append(pre)
      continue
    }
    const button = document.createElement('button')
    button.type = 'button'
    const language = [...code.classList].find((c) => c.startsWith('language-'))?.slice('language-'.length)
    const commands = commandsOf(language ?? '', code.textContent ?? '')
    const label = words.copy(commands?.length ?? null)
    button.ariaLabel = button.dataset.says = label
    const copied = () => commands?.join('\n') ?? code.textContent ?? ''
    button.onclick = () =>
      void copy(copied()).then((ok) => {
        if (!ok) return words.failed()
        button.dataset.says = words.copied()
        setTimeout(() => (button.dataset.says = label), moment)
      })
    if (commands) quietOutput(code, language ?? '')
    const first = code.textContent?.split('\n', 1)[0] ?? ''
    if (first.length > beside() - (commands ? 8 : 0)) frame.classList.add('long')
    frame.append(pre, button)
    if (language) {
      void import('./highlight')
        .then(({ colour }) => colour(code, language, () => stopped))
        .then(() => stopped || words.changed())
        .catch(() => {}) // the code stays without colours
    }
  }
  for (const img of root.querySelectorAll('img')) {
    if (!img.dataset.src) {
      picture(img, words)
      continue
    }
    const address = new URL(img.dataset.src, location.href)
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'picture'
    button.textContent = words.picture(address.host) + (img.alt ? `: ${img.alt}` : '')
    button.onclick = () => {
      img.src = address.href
      picture(img, words)
      button.replaceWith(img)
    }
    img.replaceWith(button)
  }
  for (const aside of root.querySelectorAll('aside')) {
    const name = words.box[aside.className]
    if (name) aside.dataset.label = name()
  }
  for (const list of root.querySelectorAll('section.footnotes')) list.ariaLabel = words.footnotes
  for (const link of root.querySelectorAll('.footnote-ref > a')) link.ariaLabel = words.footnote(link.textContent)
  for (const link of root.querySelectorAll('a.footnote-back')) link.ariaLabel = words.back
  if (root.querySelector('.language-math')) {
    void withTexts(() => import('./maths'))
      .then(({ setMaths }) => setMaths(root, () => stopped))
      .then((changed) => changed && words.changed())
      .catch(() => {}) // the formulas stay as written
  }
  if (root.querySelector('.language-mermaid')) {
    void withTexts(() => import('./diagrams'))
      .then(({ drawDiagrams }) =>
        drawDiagrams(
          root,
          () => stopped,
          (img) => picture(img, words),
          words.changed,
        ),
      )
      .catch(() => {}) // the source is shown
  }
  if (words.embeds && root.querySelector('a.embed, a[target] > img')) {
    void withTexts(() => import('./embeds'))
      .then(({ showEmbeds }) => showEmbeds(root, () => stopped))
      .catch(() => {}) // the links are shown
  }
  return () => {
    stopped = true
  }
}
