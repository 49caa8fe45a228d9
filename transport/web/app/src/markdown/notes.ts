// Finds the notes for facilitators in a text. A note is a fenced block with the word notes, or an
// <aside> element of the class facilitator. The server removes the notes from the text of
// attendees; actors/markdown/notes.go contains the rules. Facilitators get the whole text, and this
// module finds the notes as the server does. The server and the app pass the cases of
// actors/markdown/testdata/notes.json.
import { Blocks, closes, opensFence, run, type Fence, type Line } from './blocks'

/** A note consists of whole lines, including a blank line after them. */
interface Note {
  readonly start: number
  readonly end: number
  /** The text of the note, in Markdown. */
  readonly says: string
  /** The opening and closing line of a fenced block, or null for an element. */
  readonly fences: { readonly opens: Line; readonly closes: Line | null } | null
}

/**
 * The number of times that notes are removed, because a removal can create another note. If a note
 * remains after that, the text from that note on is removed, too.
 */
const maxPasses = 8
/** The maximum length of an incomplete tag, in UTF-16 code units. */
const maxTag = 512
/** The maximum number of backticks around inline code. */
const maxRun = 16

const isSpace = /[\s\u0085]/
const named = /^[\s\u0085]*notes(?:[\s\u0085]|$)/i
const isNotes = (fence: Fence) => named.test(fence.info)
const trim = (line: string) => line.replace(/^[ \t>\r\n]+|[ \t>\r\n]+$/g, '')

function opensNotes(b: Blocks, line: Line): { fence: Fence; loose: boolean } | null {
  if (b.opened) return isNotes(b.fence!) ? { fence: b.fence!, loose: false } : null
  if (line.kind === 'html' && b.leaf === 'html' && b.html!.sort !== 'elements') return null
  const fence = opensFence(line.rest.replace(/^[ \t\uFEFF:>\-+*0-9.)]*(?:\[\^[^\]]*\]:[ \t\uFEFF:>\-+*0-9.)]*)?/, ''))
  if (!fence || !isNotes(fence)) return null
  // Inside a block with the same fence, the first closing fence closes the outer block.
  const nested = b.leaf === 'fence' && fence.char === b.fence!.char && fence.length >= b.fence!.length
  return line.kind !== 'code' || nested || !b.sure ? { fence, loose: true } : null
}

/** Reads a fenced block to its end, and returns its lines. */
function skipFence(b: Blocks, text: string, { fence, loose }: { fence: Fence; loose: boolean }): { inside: string[]; closes: Line | null } {
  const inside: string[] = []
  for (let line = b.next(); line; line = b.next()) {
    if (b.opened && isNotes(b.fence!)) {
      fence = b.fence!
      loose = false
    } else if (!loose && b.leaf === 'fence' && !b.opened) {
      // The block continues.
    } else if (!loose && b.leaf === 'none' && line.kind === 'code') return { inside, closes: line }
    else {
      loose = true
      if (closes(fence, trim(text.slice(line.start, line.end)))) return { inside, closes: line }
    }
    inside.push(line.inside)
  }
  return { inside, closes: null }
}

/** Tracks the <aside> elements of a text. */
class Asides {
  begun = false
  open = 0
  start = 0
  #tag: string | null = null
  #tagAt = 0
  #code: Fence | null = null

  /** Ends a tag that cannot continue. Returns true if the tag begins a note. */
  drop(): boolean {
    const tag = this.#tag
    this.#tag = null
    return tag !== null && this.#opens(tag, this.#tagAt)
  }

  #opens(tag: string, at: number): boolean {
    if (!forFacilitators(tag)) return false
    this.begun = true
    this.open = 1
    this.start = at
    return true
  }

  line(b: Blocks, line: Line): void {
    let text = line.rest
    let hidden = false
    if (this.#code) {
      if (closes(this.#code, text)) this.#code = null
      return
    }
    if (line.kind === 'blank' || (line.kind === 'code' && b.sure)) return void this.drop()
    if (line.kind === 'html') {
      const { sort, start } = b.html!
      if (sort === 'raw' || sort === 'comment') this.drop()
      if (sort === 'raw') return
      if (sort === 'comment' && start < line.start) {
        const end = text.indexOf('-->')
        if (end < 0) return
        text = text.slice(end + 3)
      } else if (sort === 'comment') hidden = true
      else if (sort === 'elements' && b.leaf === 'html' && this.open > 0) {
        this.#code = opensFence(text)
        if (this.#code) return
      }
    }
    if (this.#tag !== null) {
      const from = this.#tag.length + 1
      this.#tag += `\n${text}`
      const end = tagEnd(this.#tag, '<aside'.length)
      if (end < 0 && this.#tag.length <= maxTag) return
      text = end < 0 ? '' : this.#tag.slice(Math.max(end, from))
      if (end >= 0) this.#tag = this.#tag.slice(0, end)
      this.drop()
    }
    this.#read(text, line.start, hidden, line.kind !== 'html' && b.sure)
  }

  #read(text: string, at: number, hidden: boolean, code: boolean) {
    let uncommented = false
    let last: number[] | null = null
    for (let i = 0; i < text.length;) {
      const c = text[i]
      // HTML has no inline code. Within a note, an end tag in inline code is skipped nevertheless.
      if (c === '`' && (code || this.open > 0)) {
        last ??= lastRuns(text, i)
        i = codeEnd(text, i, last)
        continue
      }
      if (c !== '<') {
        i++
        continue
      }
      if (!uncommented && text.startsWith('!--', i + 1)) {
        const end = text.indexOf('-->', i + 2)
        if (end >= 0) {
          i = end + 3
          continue
        }
        if (hidden || this.open > 0) return
        uncommented = true
      }
      const closing = text[i + 1] === '/'
      const name = i + (closing ? 2 : 1)
      if (!/^aside(?:[ \t\f/>]|$)/i.test(text.slice(name, name + 6))) {
        i++
        continue
      }
      let from = name + 5
      if (closing) {
        if (this.open > 0 && !escaped(text, i)) this.open--
      } else if (this.open > 0) this.open++
      else {
        const end = tagEnd(text, from)
        if (end < 0) {
          this.#tag = text.slice(i)
          this.#tagAt = at
          if (this.#tag.length > maxTag) this.drop()
          return
        }
        this.#opens(text.slice(i, end), at)
        from = end
      }
      i = from
    }
  }
}

const classes = /["'\t\n\f\r /]class[\t\n\f\r ]*=[\t\n\f\r ]*(?:"([^"]*)"?|'([^']*)'?|([^\t\n\f\r "'=<>`]+))/gi

function forFacilitators(tag: string): boolean {
  for (const [, double, single, bare] of tag.matchAll(classes)) {
    const value = double ?? single ?? bare ?? ''
    // A browser decodes entities, so any value with an "&" counts as the class facilitator.
    if (value.includes('&') || value.split(isSpace).some((word) => word.toLowerCase() === 'facilitator')) return true
  }
  return false
}

function escaped(text: string, i: number): boolean {
  let n = 0
  while (n < i && text[i - 1 - n] === '\\') n++
  return n % 2 === 1
}

/** Returns the end of the tag whose attributes begin at i, or -1 if the tag does not end. */
function tagEnd(text: string, i: number): number {
  for (let quote = ''; i < text.length; i++) {
    const c = text[i]!
    if (quote !== '') {
      if (c === quote) quote = ''
    } else if (c === '>') return i + 1
    else if ((c === '"' || c === "'") && '= \t\n'.includes(text[i - 1]!)) quote = c
  }
  return -1
}

/** The position of the last run of backticks of each length, from i on. */
function lastRuns(text: string, i: number): number[] {
  const last: number[] = []
  for (let at = text.indexOf('`', i); at >= 0; at = text.indexOf('`', at)) {
    const n = run(text, '`', at)
    if (n <= maxRun) last[n] = at
    at += n
  }
  return last
}

function codeEnd(text: string, i: number, last: readonly number[]): number {
  const n = run(text, '`', i)
  if (n > maxRun || (last[n] ?? 0) <= i) return i + n
  for (let at = i + n; ;) {
    at = text.indexOf('`', at)
    const m = run(text, '`', at)
    at += m
    if (m === n) return at
  }
}

function said(lines: string): string {
  return lines
    .replace(/<aside(?:[^>"']|"[^"]*"|'[^']*')*>/i, '')
    .replace(/<\/aside[^>]*>(?![^]*<\/aside)/i, '')
    .trim()
}

/** The notes of a text, in order. */
export function notesIn(text: string): Note[] {
  const out: Note[] = []
  if (!/notes|<aside/i.test(text)) return out
  const b = new Blocks(text)
  const asides = new Asides()
  let lines: { at: number; inside: string }[] = []
  for (let line = b.next(); line; line = b.next()) {
    const opens = opensNotes(b, line)
    if (opens && asides.open === 0 && !asides.drop()) {
      const { inside, closes } = skipFence(b, text, opens)
      b.takeBlank()
      out.push({ start: line.start, end: b.at, says: inside.join('\n'), fences: { opens: line, closes } })
      lines = []
      continue
    }
    lines.push({ at: line.start, inside: line.inside })
    asides.line(b, line)
    if (!asides.begun || asides.open > 0) continue
    asides.begun = false
    const says = lines.filter((l) => l.at >= asides.start)
    b.takeBlank()
    out.push({ start: asides.start, end: b.at, says: said(says.map((l) => l.inside).join('\n')), fences: null })
    lines = []
  }
  if (asides.open > 0 || asides.drop()) {
    const says = lines.filter((l) => l.at >= asides.start)
    out.push({ start: asides.start, end: text.length, says: said(says.map((l) => l.inside).join('\n')), fences: null })
  }
  return out
}

function without(text: string, notes: readonly Note[]): string {
  let out = ''
  let at = 0
  for (const n of notes) {
    out += text.slice(at, n.start)
    at = n.end
  }
  return out + text.slice(at)
}

/** Returns the text without its notes, and the texts of the notes. */
export function parted(text: string): { text: string; notes: string[] } {
  const says: string[] = []
  for (let pass = 0; pass < maxPasses; pass++) {
    const notes = notesIn(text)
    if (notes.length === 0) return { text, notes: says }
    says.push(...notes.map((n) => n.says))
    text = without(text, notes)
  }
  const [first] = notesIn(text)
  return { text: first ? text.slice(0, first.start) : text, notes: says }
}

export const withoutNotes = (text: string) => parted(text).text

/**
 * Returns a text for facilitators, in which fenced notes are elements. A note stays inside its list
 * or quotation.
 */
export function marked(text: string): string {
  let out = ''
  let at = 0
  for (const { fences } of notesIn(text)) {
    if (!fences) continue
    const { opens, closes } = fences
    const line = text.slice(opens.start, opens.end).replace(/[\r\n]+$/, '')
    const before = line.slice(0, line.search(/`{3}|~{3}/))
    const beside = before.replace(/[^>\t ]/g, ' ')
    out += `${text.slice(at, opens.start)}${before}<aside class="facilitator">\n${beside}\n${text.slice(opens.end, closes?.start)}${closes ? '' : '\n'}${beside}\n${beside}</aside>\n${beside}\n`
    at = closes ? closes.end : text.length
  }
  return out + text.slice(at)
}

/** Replaces the fences of notes by empty lines, so that headings and code in notes are found. */
export function unfenced(text: string): string {
  let out = ''
  let at = 0
  for (const { fences } of notesIn(text)) {
    for (const line of fences ? [fences.opens, fences.closes] : []) {
      if (!line) continue
      out += text.slice(at, line.start) + text.slice(line.start, line.end).replace(/[^\r\n]/g, '')
      at = line.end
    }
  }
  return out + text.slice(at)
}
