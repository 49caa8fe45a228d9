// Parses the content of messages, which is text, code and links, but no other Markdown. From the
// resulting pieces the page creates elements, never HTML. Parsing takes linear time and has no side
// effects.

export type Piece =
  | { readonly kind: 'text' | 'code' | 'block'; readonly text: string }
  /** host is the host of the link if its text is not the address, or else null. */
  | { readonly kind: 'link'; readonly text: string; readonly href: string; readonly host: string | null }

const opening = /^ {0,3}(?:(`{3,})[^`]*|(~{3,}).*)$/
/**
 * A run of backticks, [text](address), <address> or a bare address. An address contains no
 * bidirectional control characters.
 */
const inline =
  /(`+)|\[([^[\]]{1,200})\]\((https?:\/\/[^\s<>()\u202a-\u202e\u2066-\u2069]{1,1900})\)|<(https?:\/\/[^\s<>\u202a-\u202e\u2066-\u2069]+)>|(?<![\p{L}\p{N}_])(https?:\/\/[^\s<>`\u202a-\u202e\u2066-\u2069]+)/giu

/** The pieces of a message, in order. */
export function pieces(text: string): Piece[] {
  // Nearly all texts contain neither code nor links, and need no parsing.
  if (!/`|~~~|https?:\/\//i.test(text)) return [{ kind: 'text', text }]
  const out: Piece[] = []
  const lines = text.split('\n')
  for (let i = 0; i < lines.length; i++) {
    const fence = opening.exec(lines[i]!)
    if (!fence) {
      read(lines[i]!, out)
      if (i + 1 < lines.length) say(out, '\n')
      continue
    }
    const mark = fence[1] ?? fence[2]!
    const from = i + 1
    while (++i < lines.length && !closes(lines[i]!, mark));
    const code = lines.slice(from, i).join('\n')
    if (code.trim() === '') {
      say(out, lines.slice(from - 1, i + 1).join('\n') + (i + 1 < lines.length ? '\n' : ''))
      continue
    }
    // A code block begins on a new line, so the line break before it is dropped.
    const last = out.at(-1)
    if (last?.kind === 'text') {
      out.pop()
      say(out, last.text.replace(/\n$/, ''))
    }
    out.push({ kind: 'block', text: code })
  }
  return out
}

/** Appends text, to the last piece if that is also text. */
function say(out: Piece[], text: string) {
  if (text === '') return
  const last = out.at(-1)
  if (last?.kind === 'text') out[out.length - 1] = { kind: 'text', text: last.text + text }
  else out.push({ kind: 'text', text })
}

function closes(line: string, mark: string): boolean {
  const bare = line.trim()
  return bare.length >= mark.length && bare === mark[0]!.repeat(bare.length) && /^ {0,3}\S/.test(line)
}

/** Parses a line outside code blocks, and appends its pieces to out. */
function read(line: string, out: Piece[]) {
  let at = 0
  let runs: Map<number, number[]> | undefined
  inline.lastIndex = 0
  for (let found = inline.exec(line); found; found = inline.exec(line)) {
    const from = found.index
    let to = inline.lastIndex
    let piece: Piece | null
    if (found[1]) {
      runs ??= runsOf(line)
      const [code, end] = codeAt(line, from, found[1].length, runs)
      piece = code
      to = end
    } else if (found[5]) {
      const address = trimmed(found[5])
      piece = linkOf(address, address)
      to = from + address.length
    } else piece = found[3] ? linkOf(found[2]!, found[3]) : linkOf(found[4]!, found[4]!)
    inline.lastIndex = to
    if (!piece) continue
    say(out, line.slice(at, from))
    out.push(piece)
    at = to
  }
  say(out, line.slice(at))
}

/** The positions of the runs of backticks of each length, the last one first. */
function runsOf(line: string): Map<number, number[]> {
  const out = new Map<number, number[]>()
  for (const { 0: run, index } of line.matchAll(/`+/g)) {
    const places = out.get(run.length)
    if (places) places.push(index)
    else out.set(run.length, [index])
  }
  for (const places of out.values()) places.reverse()
  return out
}

/** The code that begins with n backticks, and its end. If it is not closed, the code is null. */
function codeAt(line: string, from: number, n: number, runs: Map<number, number[]>): [Piece | null, number] {
  const places = runs.get(n)!
  while (places.at(-1)! <= from) places.pop()
  const end = places.at(-1)
  if (end === undefined) return [null, from + n]
  const text = line.slice(from + n, end)
  return [{ kind: 'code', text: /^ .*\S.* $/.test(text) ? text.slice(1, -1) : text }, end + n]
}

/** The address without punctuation at its end, which belongs to the sentence. */
function trimmed(address: string): string {
  let open = 0
  for (const c of address) open += c === '(' ? 1 : c === ')' ? -1 : 0
  let end = address.length
  for (; end > 0; end--) {
    const c = address[end - 1]!
    if (c === ')' && open < 0) open++
    else if (!'.,:;!?*_~\'"'.includes(c)) break
  }
  return address.slice(0, end)
}

/** Returns a link, or null for an invalid or deceptive address. */
function linkOf(text: string, address: string): Piece | null {
  const url = parsed(address)
  // An address with a user name is deceptive, because the part before the @ looks like the host.
  if (!url || url.username !== '' || url.password !== '') return null
  return { kind: 'link', text, href: url.href, host: text === address ? null : url.host }
}

function parsed(address: string): URL | null {
  try {
    return new URL(address)
  } catch {
    return null
  }
}
