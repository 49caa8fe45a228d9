// Short names of emoji (":tada:"), as GitHub has them. Only words have them: no code, no
// formula and no address. Loaded with the first text that possibly has one.
//
// The names are those of gemoji, which is GitHub's list; the build leaves out what else that
// says of them (vite.config.ts).
import lines from 'virtual:emoji'

export const emoji: ReadonlyMap<string, string> = new Map(
  lines.split('\n').flatMap((line) => {
    const [sign, ...names] = line.split(' ')
    return names.map((name) => [name, sign!] as const)
  }),
)

/** One or more adjacent names that touch no word and no address. */
const names = /(?<![A-Za-z0-9_:/])(?::[a-z0-9_+-]{1,40}:)+(?![A-Za-z0-9_/])/g
const elsewhere = 'code, pre, kbd, samp, math, svg'
const address = /:\/\/|^www\./

/** A text with emoji in the place of their names; an unknown name stays as it is. */
export function withEmoji(text: string): string {
  return text.replace(names, (run) => run.replace(/:([^:]+):/g, (written, name: string) => emoji.get(name) ?? written))
}

/** Shows the emoji below root; true when there are any. */
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
