// The checks that a step declares. A check is a fenced block whose info string is the word check
// and a name. The title of the check is the block's first line that is not blank. The server finds
// the same checks.
import { marked } from './parse'

export interface Declared {
  readonly name: string
  readonly title: string
}

const info = /^check[ \t]+([A-Za-z0-9][A-Za-z0-9._-]{0,63})[ \t]*$/

/** The checks of a text. If two have the same name, the first counts. */
export function declared(markdown: string): Declared[] {
  const out = new Map<string, Declared>()
  try {
    void marked.walkTokens(marked.lexer(markdown), (t) => {
      if (t.type !== 'code') return
      const name = info.exec((t.lang as string | undefined)?.trim() ?? '')?.[1]
      if (name !== undefined && !out.has(name)) out.set(name, { name, title: /\S.*/.exec(t.text as string)?.[0].trim() ?? '' })
    })
  } catch {
    return [] // a text that cannot be parsed is shown as plain text, so it has no checks
  }
  return [...out.values()]
}
