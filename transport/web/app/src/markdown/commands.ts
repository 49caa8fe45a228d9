// Finds the commands in a terminal listing, which are the typed text without prompts and output.

/** The info strings of terminal listings. */
const shells = new Set(['console', 'shell', 'sh', 'bash', 'zsh', 'powershell'])

/** A # is a prompt only in `console`. Elsewhere it begins a comment. */
const promptOf = (language: string) => (language === 'console' ? /^(?:[$#>]|PS [^>\n]*>) / : /^(?:[$>]|PS [^>\n]*>) /)
const continued = /(?:^|[^\\])(?:\\\\)*\\$/

/** The lines of a listing: a prompt with its command, or output without a prompt. */
function* read(language: string, text: string): Generator<{ prompt: string | null; rest: string; continues: boolean }> {
  const begins = promptOf(language)
  let continues = false
  for (const line of text.split('\n')) {
    const prompt: string | null = continues ? (/^> /.exec(line)?.[0] ?? '') : (begins.exec(line)?.[0] ?? null)
    const rest: string = line.slice(prompt?.length ?? 0)
    yield { prompt, rest, continues }
    continues = prompt !== null && continued.test(rest)
  }
}

/** The pieces of a listing in order: commands, and the prompts and output around them. */
export function linesOf(language: string, text: string): { text: string; typed: boolean }[] {
  const out: { text: string; typed: boolean }[] = []
  const add = (piece: string, typed: boolean) => {
    const last = out.at(-1)
    if (piece === '') return
    if (last?.typed === typed) last.text += piece
    else out.push({ text: piece, typed })
  }
  let first = true
  for (const { prompt, rest } of read(language, text)) {
    if (!first) add('\n', out.at(-1)?.typed ?? false)
    first = false
    add(prompt ?? '', false)
    add(rest, prompt !== null)
  }
  return out
}

/**
 * Returns the commands in a fence of a language, each with its continuation lines. Returns null for
 * a language that is not a shell and for a listing without prompts. Both are copied unchanged.
 */
export function commandsOf(language: string, text: string): string[] | null {
  if (!shells.has(language)) return null
  const out: string[] = []
  for (const { prompt, rest, continues } of read(language, text)) {
    if (continues) out[out.length - 1] += '\n' + rest
    else if (prompt !== null) out.push(rest)
  }
  return out.length > 0 ? out : null
}
