// Short names of emoji (":tada:"), as GitHub has them. Only words have them: no code, no
// formula and no address. The names are a chunk of their own, loaded with the first text
// that may have one.

/** Names that touch no word and no address; several may follow each other. */
const names = /(?<![A-Za-z0-9_:/])(?::[a-z0-9_+-]{1,40}:)+(?![A-Za-z0-9_/])/g
const elsewhere = 'code, pre, kbd, samp, math, svg'
const address = /:\/\/|^www\./

type Emoji = ReadonlyMap<string, string>

/** A text with emoji in the place of their names; an unknown name stays as it is. */
export function withEmoji(text: string, emoji: Emoji): string {
  return text.replace(names, (run) => run.replace(/:([^:]+):/g, (written, name: string) => emoji.get(name) ?? written))
}

let known: Emoji | null = null

/** Shows the emoji below root: at once when their names are here, later when they must be loaded. changed is called after that. */
export function showEmoji(root: HTMLElement, stopped: () => boolean, changed: () => void): void {
  const texts = candidates(root)
  if (texts.length === 0) return
  if (known) {
    put(texts, known)
    return
  }
  void import('./emojiNames')
    .then(({ emoji }) => {
      known = emoji
      if (!stopped() && put(candidates(root), emoji)) changed()
    })
    .catch(() => {}) // the names say it, too
}

function candidates(root: HTMLElement): Text[] {
  const out: Text[] = []
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    if (node.data.search(names) < 0 || node.parentElement!.closest(elsewhere)) continue
    const link = node.parentElement!.closest('a')
    if (!link || !address.test(link.textContent.trim())) out.push(node)
  }
  return out
}

function put(texts: readonly Text[], emoji: Emoji): boolean {
  let any = false
  for (const text of texts) {
    const shown = withEmoji(text.data, emoji)
    if (shown === text.data) continue
    text.data = shown
    any = true
  }
  return any
}
