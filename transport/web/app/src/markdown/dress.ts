// Additions to rendered Markdown in the page: buttons to copy code, colours once the
// language's parser is loaded, formulas, diagrams, names of boxes, and pictures that
// enlarge. None adds a character to the text, since comments count characters. Only emoji
// replace their names, and comments find their words again (workshop/anchor.ts).
import { copy } from '../device/copy'
import { commandsOf, linesOf } from './commands'
import { withTexts } from '../messages/texts'

export interface Words {
  /** The label of the button that copies code. For a listing of a terminal it has the number of commands. */
  copy: (commands: number | null) => string
  /** The label of the button that loads a picture from another server. */
  picture: (host: string) => string
  /** The label of a picture that can be pressed, and the text in place of a missing one. */
  enlarges: (alt: string) => string
  missing: (alt: string) => string
  enlarge(img: HTMLImageElement): void
  /** The name of a box of this kind. */
  box: Readonly<Record<string, () => string>>
  /** Whether pages of other servers may be shown in frames, where the server allows them. */
  embeds: boolean
  /** What footnotes are, one of them, and the way back from it. */
  footnotes: string
  footnote: (number: string) => string
  back: string
  /** Code was copied; what its button says for a moment. */
  copied(): string
  failed(): void
  /** The elements of a code block were replaced by coloured ones. */
  changed(): void
}

/** With a longer first line the button that copies is above the code: characters beside a text, and on a phone. */
const beside = () => (matchMedia('(max-width: 640px)').matches ? 14 : 50)

/** How long a button says that it has copied, milliseconds. */
const moment = 2000

/** Pictures that are no wider are signs within a text, CSS pixels. */
const sign = 48

/** Lets a picture be enlarged once it is here, and says that it is missing when it does not come. */
function picture(img: HTMLImageElement, words: Words) {
  const missing = () => {
    // Of the height of a line, as the picture was until now: nothing moves.
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

/** Makes prompts and answers quiet, so that the commands stand out. */
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

/** Dresses what is below root; the returned function stops it. */
export function dress(root: HTMLElement, words: Words): () => void {
  let stopped = false
  if (/:[a-z0-9_+-]+:/.test(root.textContent)) {
    void import('./emoji').then(({ showEmoji }) => stopped || (showEmoji(root) && words.changed())).catch(() => {}) // the names say it, too
  }
  for (const pre of root.querySelectorAll('pre')) {
    const code = pre.querySelector('code')
    if (!code || code.classList.contains('language-math')) continue
    const frame = document.createElement('div')
    frame.className = 'code'
    pre.replaceWith(frame)
    if (code.classList.contains('language-check')) {
      frame.classList.add('check') // words for people, not code to be copied
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
        .catch(() => {}) // without its colours it is still code
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
      .catch(() => {}) // it stays as it was written
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
      .catch(() => {}) // the source is there
  }
  if (words.embeds && root.querySelector('a.embed, a[target] > img')) {
    void withTexts(() => import('./embeds'))
      .then(({ showEmbeds }) => showEmbeds(root, () => stopped))
      .catch(() => {}) // the links are there
  }
  return () => {
    stopped = true
  }
}
