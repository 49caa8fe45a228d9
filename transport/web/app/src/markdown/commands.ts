// The commands in a listing of a terminal: what somebody types, without prompts and
// without what the program answers.

/** The fences that are listings of a terminal. */
const shells = new Set(['console', 'shell', 'sh', 'bash', 'zsh', 'powershell'])

/** A # is a prompt in `console` alone: elsewhere it begins a comment. */
const promptOf = (language: string) => (language === 'console' ? /^(?:[$#>]|PS [^>\n]*>) / : /^(?:[$>]|PS [^>\n]*>) /)
const continued = /(?:^|[^\\])(?:\\\\)*\\$/

/** The pieces of a listing in order: what somebody types, and the prompts and answers around it. */
export function linesOf(language: string, text: string): { text: string; typed: boolean }[] {
  const out: { text: string; typed: boolean }[] = []
  const add = (piece: string, typed: boolean) => {
    const last = out.at(-1)
    if (piece === '') return
    if (last?.typed === typed) last.text += piece
    else out.push({ text: piece, typed })
  }
  let continues = false
  for (const [i, line] of text.split('\n').entries()) {
    if (i > 0) add('\n', out.at(-1)?.typed ?? false)
    const prompt = continues ? (/^> /.exec(line)?.[0] ?? '') : (promptOf(language).exec(line)?.[0] ?? null)
    if (prompt === null) {
      add(line, false)
      continue
    }
    add(prompt, false)
    const typed = line.slice(prompt.length)
    add(typed, true)
    continues = continued.test(typed)
  }
  return out
}

/**
 * The commands of a fence of that language, each with the lines that continue it; null when
 * it is no listing with prompts, which is copied as it stands.
 */
export function commandsOf(language: string, text: string): string[] | null {
  if (!shells.has(language)) return null
  const prompt = promptOf(language)
  const out: string[] = []
  let continues = false
  for (const line of text.split('\n')) {
    if (!continues && !prompt.test(line)) continue
    const typed = continues ? line : line.replace(prompt, '')
    if (continues) out[out.length - 1] += '\n' + typed.replace(/^> /, '')
    else out.push(typed)
    continues = continued.test(typed)
  }
  return out.length > 0 ? out : null
}
