// Replaces short names of emoji (":tada:"), as GitHub does. Names are replaced only in plain text,
// not in code, formulas or addresses. This module is loaded with the first text that can contain
// such a name.
//
// The names come from gemoji, GitHub's list. The build omits its other data (vite.config.ts).
import lines from 'virtual:emoji'

export const emoji: ReadonlyMap<string, string> = new Map(
  lines.split('\n').flatMap((line) => {
    const [sign, ...names] = line.split(' ')
    return names.map((name) => [name, sign!] as const)
  }),
)

/** One or more adjacent names that are not next to letters, digits or parts of an address. */
const names = /(?<![A-Za-z0-9_:/])(?::[a-z0-9_+-]{1,40}:)+(?![A-Za-z0-9_/])/g
const elsewhere = 'code, pre, kbd, samp, math, svg'
const address = /:\/\/|^www\./

/** Replaces names with emoji. Unknown names stay unchanged. */
export function withEmoji(text: string): string {
  return text.replace(names, (run) => run.replace(/:([^:]+):/g, (written, name: string) => emoji.get(name) ?? written))
}

/** Replaces names with emoji in all text below root. Returns whether it replaced any. */
export function showEmoji(root: HTMLElement): boolean {
  let any = false
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode() as Text | null; node; node = walker.nextNode() as Text | null) {
    const shown = withEmoji(node.data)
    if (shown === node.data || node.parentElement!.closest(elsewhere)) continue
    const link = node.parentElement!.closest('a')
    if (link && address.test(link.textContent.trim())) continue
    node.data = shown
    any = true
  }
  return any
}
