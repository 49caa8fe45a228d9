// The emoji by their names; of gemoji, which is GitHub's list. The build leaves out what
// else that says of them (vite.config.ts).
import lines from 'virtual:emoji'

export const emoji: ReadonlyMap<string, string> = new Map(
  lines.split('\n').flatMap((line) => {
    const [sign, ...names] = line.split(' ')
    return names.map((name) => [name, sign!] as const)
  }),
)
