// The commands in a listing of a terminal: what somebody types, without prompts and
// without what the program answers.

/** The fences that are listings of a terminal. */
const shells = new Set(['console', 'shell', 'sh', 'bash', 'zsh', 'powershell'])

/**
 * The commands of a fence of that language, each with the lines that continue it; null when
 * it is no listing with prompts, which is copied as it stands. A # is a prompt in `console`
 * alone: elsewhere it begins a comment.
 */
export function commandsOf(language: string, text: string): string[] | null {
  if (!shells.has(language)) return null
  const prompt = language === 'console' ? /^(?:[$#>]|PS [^>\n]*>) (.*)$/ : /^(?:[$>]|PS [^>\n]*>) (.*)$/
  const out: string[] = []
  let continues = false
  for (const line of text.split('\n')) {
    const typed = continues ? line : prompt.exec(line)?.[1]
    if (typed === undefined) continue
    if (continues) out[out.length - 1] += '\n' + typed.replace(/^> /, '')
    else out.push(typed)
    continues = /(?:^|[^\\])(?:\\\\)*\\$/.test(typed)
  }
  return out.length > 0 ? out : null
}
