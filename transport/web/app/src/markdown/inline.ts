// Finds the text of a paragraph without its markup. The keys of tasks depend on this text. It must
// therefore match the server's result (actors/markdown/inline.go) in every character, even where
// the page's parser differs.

const asciiPunct = /[!-/:-@[-`{-~]/
const space = /[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/
const spaces = new RegExp(space.source + '+', 'g')
const punctuation = /[\p{P}\p{S}]/u
const entity = /&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{0,31});/iy
const mail = /<[a-zA-Z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@[a-zA-Z0-9.-]{1,255}>/y
const autolink = /<[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^<> \t\r\n]*>/y
const element =
  /<(?:\/?[a-zA-Z][a-zA-Z0-9-]*)(?:[ \t\n\r]+[a-zA-Z_:][a-zA-Z0-9_:.-]*(?:[ \t\n\r]*=[ \t\n\r]*(?:"[^"]*"|'[^']*'|[^ \t\r\n"'=<>`]+))?)*[ \t\n\r]*\/?>/y
const labelled = /\[((?:[^[\]\\]|\\[^])*)\]/y
const titles = /(?:"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|\((?:[^)\\]|\\[^])*\))/y

/** The maximum length of a reference label, in UTF-16 code units. */
const maxLabel = 999

/** Returns the end of a pattern's match at a position, or -1 if there is no match. */
function ends(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : -1
}

/** Returns a label in the form in which labels are compared. */
export const normal = (label: string) => spaced(label).toUpperCase().toLowerCase()

/** Replaces each run of white space with one space, and trims the text. */
export const spaced = (text: string) => text.replace(spaces, ' ').replace(/^ | $/g, '')

/**
 * A part of the output that can be markup: a run of emphasis characters, or the [ or ![ of a link.
 */
interface Mark {
  readonly at: number
  readonly size: number
  /** The number of the mark's characters that are not markup and stay in the output. */
  kept: number
  /** The character of a run of emphasis characters. Brackets have none. */
  readonly char?: string
  canOpen: boolean
  canClose: boolean
}

/** A [ whose ] has not been found yet. at is the position after the bracket. */
interface Opening {
  readonly at: number
  readonly image: boolean
  /** The length of the output and the number of marks before the bracket. */
  readonly out: number
  readonly marks: number
}

/** Returns the length of the run of equal characters at a position. */
function run(text: string, at: number): number {
  let n = 1
  while (text[at + n] === text[at]) n++
  return n
}

/** Returns the character of an entity. An unknown entity stays unchanged. */
export type Resolve = (entity: string) => string

/**
 * Returns the text of a paragraph without markup. labels contains the normalised reference labels.
 */
export function inlineText(text: string, labels: ReadonlySet<string>, resolve: Resolve): string {
  let out = ''
  const found: Mark[] = []
  const open: Opening[] = []
  let links = 0 // open brackets below this index contain a link, so they cannot be links
  let nested = -1 // position of the last [
  for (let i = 0; i < text.length;) {
    const c = text[i]!
    if (c === '\\' && (asciiPunct.test(text[i + 1] ?? '') || text[i + 1] === '\n')) {
      out += text[i + 1]!
      i += 2
      continue
    }
    if (c === '`') {
      const n = run(text, i)
      const end = n > 16 ? -1 : closing(text, i + n, n)
      out += end < 0 ? text.slice(i, i + n) : code(text.slice(i + n, end))
      i = end < 0 ? i + n : end + n
      continue
    }
    if (c === '&') {
      const end = ends(entity, text, i)
      if (end > 0) {
        out += resolve(text.slice(i, end))
        i = end
        continue
      }
    }
    if (c === '<') {
      let end = ends(autolink, text, i)
      if (end < 0) end = ends(mail, text, i)
      if (end > 0) {
        out += text.slice(i + 1, end - 1)
        i = end
        continue
      }
      const comment = text.startsWith('<!--', i) ? text.indexOf('-->', i + 4) : -1
      end = comment < 0 ? ends(element, text, i) : comment + 3
      if (end > 0) {
        i = end
        continue
      }
    }
    if (c === '[') {
      open.push({ at: i + 1, image: text[i - 1] === '!' && !escaped(text, i - 1), out: out.length, marks: found.length })
      nested = i
    }
    if (c === ']' && open.length > 0) {
      const b = open.pop()!
      const plain = b.image || open.length >= links
      links = Math.min(links, open.length)
      const end = plain ? target(text, labels, b.at, i, nested) : -1
      if (end > 0) {
        if (!b.image) links = open.length
        pair(found, b.marks)
        found.push({ at: b.image ? b.out - 1 : b.out, size: b.image ? 2 : 1, kept: 0, canOpen: false, canClose: false })
        i = end
        continue
      }
    }
    if (c === '*' || c === '_' || c === '~') {
      const n = run(text, i)
      found.push(emphasis(text, i, n, out.length))
      out += text.slice(i, i + n)
      i += n
      continue
    }
    out += c
    i++
  }
  pair(found, 0)
  let plain = ''
  let at = 0
  for (const m of found.sort((a, b) => a.at - b.at)) {
    plain += out.slice(at, m.at + m.kept)
    at = m.at + m.size
  }
  return spaced((plain + out.slice(at)).normalize('NFC'))
}

/** Returns the start of the run of n backticks that closes code, or -1 if no such run exists. */
function closing(text: string, from: number, n: number): number {
  for (let at = text.indexOf('`', from); at >= 0;) {
    const m = run(text, at)
    if (m === n) return at
    at = text.indexOf('`', at + m)
  }
  return -1
}

/** Returns the text of a code span. If it has a space at both ends, one is removed at each end. */
function code(inside: string): string {
  const line = inside.replaceAll('\n', ' ')
  return line.length > 1 && line.startsWith(' ') && line.endsWith(' ') && /[^ ]/.test(line) ? line.slice(1, -1) : line
}

/** Reports whether the character at i is escaped by a backslash. */
function escaped(text: string, i: number): boolean {
  let n = 0
  while (n < i && text[i - 1 - n] === '\\') n++
  return n % 2 === 1
}

/** Returns the position of the first character from i on that is not white space. */
const skip = (text: string, i: number) => {
  while (' \t\n\r'.includes(text[i] ?? 'x')) i++
  return i
}

/**
 * Returns the end of the link or image whose text ends with the ] at i, or -1 if the ] ends
 * neither.
 */
function target(text: string, labels: ReadonlySet<string>, from: number, i: number, nested: number): number {
  if (text[i + 1] === '(') {
    const at = skip(text, i + 2)
    if (text[at] === ')') return at + 1
    const stop = destination(text, at)
    if (stop > at) {
      const after = skip(text, stop)
      const title = after > stop ? ends(titles, text, after) : -1
      const end = title > 0 ? skip(text, title) : -1
      if (end > 0 && text[end] === ')') return end + 1
      if (text[after] === ')') return after + 1
    }
  }
  if (labels.size === 0) return -1
  let label = text.slice(from, i)
  let end = i + 1
  let inner = nested >= from
  if (text[i + 1] === '[') {
    const stop = ends(labelled, text, i + 1)
    if (stop > 0) {
      end = stop
      const named = text.slice(i + 2, stop - 1)
      if (spaced(named) !== '') [label, inner] = [named, false]
    }
  }
  return !inner && label.length <= maxLabel && labels.has(normal(label)) ? end : -1
}

/** Returns the end of the address that begins at i, or i if there is none. */
function destination(text: string, i: number): number {
  if (text[i] === '<') {
    for (let at = i + 1; at < text.length; at++) {
      const c = text[at]!
      if (c === '\\') at++
      else if (c === '>') return at + 1
      else if (c === '<' || c === '\n') return i
    }
    return i
  }
  let open = 0
  let at = i
  for (; at < text.length && text[at]! > ' ' && text[at] !== '\x7f'; at++) {
    const c = text[at]!
    if (c === '\\' && asciiPunct.test(text[at + 1] ?? '')) at++
    else if (c === '(') open++
    else if (c === ')' && --open < 0) return at
  }
  return open > 0 ? i : at
}

/** Returns the mark for the run of n emphasis characters at i. at is its position in the output. */
function emphasis(text: string, i: number, n: number, at: number): Mark {
  const char = text[i]!
  const before = [...text.slice(Math.max(0, i - 2), i)].at(-1) ?? ' '
  const after = String.fromCodePoint(text.codePointAt(i + n) ?? 32)
  const [blankBefore, blankAfter] = [space.test(before), space.test(after)]
  const [punctBefore, punctAfter] = [punctuation.test(before), punctuation.test(after)]
  const left = !blankAfter && (!punctAfter || blankBefore || punctBefore)
  const right = !blankBefore && (!punctBefore || blankAfter || punctAfter)
  const m = { at, size: n, kept: n, char, canOpen: left, canClose: right }
  if (char === '_') [m.canOpen, m.canClose] = [left && (!right || punctBefore), right && (!left || punctAfter)]
  if (char === '~' && n > 2) m.canOpen = m.canClose = false
  return m
}

/**
 * Finds the pairs among the emphasis runs from index from on. After that, these runs cannot pair
 * with any other run.
 */
function pair(all: Mark[], from: number) {
  const open: Mark[] = []
  for (const m of all.slice(from)) {
    while (m.canClose && m.kept > 0) {
      const at = open.findLastIndex((o) => fits(o, m))
      if (at < 0) break
      const o = open[at]!
      const n = m.char === '~' ? m.kept : m.kept >= 2 && o.kept >= 2 ? 2 : 1
      o.kept -= n
      m.kept -= n
      open.length = o.kept === 0 ? at : at + 1
    }
    if (m.canOpen && m.kept > 0) open.push(m)
  }
  for (const m of all.slice(from)) m.canOpen = m.canClose = false
}

/** Reports whether an opening run pairs with a closing run (CommonMark, the rule of three). */
function fits(opening: Mark, closing: Mark): boolean {
  if (opening.char !== closing.char) return false
  if (opening.char === '~') return opening.kept === closing.kept
  return (!opening.canClose && !closing.canOpen) || (opening.size + closing.size) % 3 !== 0 || (opening.size % 3 === 0 && closing.size % 3 === 0)
}
