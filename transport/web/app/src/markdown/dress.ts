// What is added to rendered Markdown in the page: buttons to copy code, and
// colours once the language's parser is here. Neither adds a character to the
// text.
export interface Words {
  copy: string
  /** What the button says that loads a picture from elsewhere. */
  picture: (host: string) => string
  copied(): void
  failed(): void
  /** The elements of a code block were replaced by coloured ones. */
  changed(): void
}

/** Dresses the code blocks below root; the returned function stops it. */
export function dress(root: HTMLElement, words: Words): () => void {
  let stopped = false
  for (const pre of root.querySelectorAll('pre')) {
    const code = pre.querySelector('code')
    if (!code) continue
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
    button.setAttribute('aria-label', words.copy)
    button.title = words.copy
    button.onclick = () => void copy(code.textContent ?? '').then((ok) => (ok ? words.copied() : words.failed()))
    frame.append(pre, button)
    const language = [...code.classList].find((c) => c.startsWith('language-'))?.slice('language-'.length)
    if (language) {
      void import('./highlight')
        .then(({ colour }) => colour(code, language, () => stopped))
        .then(() => stopped || words.changed())
        .catch(() => {}) // without its colours it is still code
    }
  }
  for (const img of root.querySelectorAll<HTMLImageElement>('img[data-src]')) {
    const address = new URL(img.dataset.src ?? '', location.href)
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'picture'
    button.textContent = words.picture(address.host) + (img.alt ? `: ${img.alt}` : '')
    button.onclick = () => {
      img.src = address.href
      button.replaceWith(img)
    }
    img.replaceWith(button)
  }
  return () => {
    stopped = true
  }
}

/** Copies a text; where the clipboard is closed (plain http), the old way. */
export async function copy(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    area.className = 'unseen'
    const focused = document.activeElement as HTMLElement | null
    document.body.append(area)
    area.select()
    const done = document.execCommand('copy')
    area.remove()
    focused?.focus()
    return done
  }
}
