// Finds the block structure of Markdown, line by line, in linear time. The scanner matches the
// server's scanner (actors/markdown/scan.go), so that app and server remove the same notes.

/** The kind of a line, inside its quotations and list items. */
export type Kind = 'blank' | 'paragraph' | 'heading' | 'code' | 'html' | 'list' | 'rule'

export interface Line {
  kind: Kind
  /** The text of the line, without the marks of its containers. */
  rest: string
  /** Like rest, with the white space before it. */
  inside: string
  /** The offsets of the line in the text. end is after the line ending. */
  start: number
  end: number
}

export interface Fence {
  readonly char: string
  readonly length: number
  readonly info: string
  /** Whether all Markdown parsers agree on where the fenced block begins and ends. */
  sure?: boolean
}

interface Html {
  sort: 'elements' | 'comment' | 'preformatted' | 'raw'
  readonly until: (line: string) => boolean
  readonly start: number
}

interface Container {
  readonly quote: boolean
  readonly width: number
  bare: boolean
}

/** The maximum depth of nested quotations and lists. */
const maxNesting = 32

const blockTags = new Set(
  (
    'address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt fieldset figcaption figure footer ' +
    'form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link main menu menuitem meta nav noframes ol optgroup option p param ' +
    'search section summary table tbody td tfoot th thead title tr track ul'
  ).split(' '),
)
const rawTag = /^<(script|pre|style|textarea)(?:[\t\n\f\r >]|$)/i
const rawEnd = /<\/(script|pre|style|textarea)>/i
const rawEnds = new RegExp(rawEnd, 'gi')
const commentEnds = /--!?>/g
const blockTag = /^<\/?([a-zA-Z][a-zA-Z0-9-]*)(?:[ \t>]|\/>|$)/
const anyTag =
  /^(?:<[a-zA-Z][a-zA-Z0-9-]*(?:[\t\n\f\r ]+[a-zA-Z_:][a-zA-Z0-9_.:-]*(?:[\t\n\f\r ]*=[\t\n\f\r ]*(?:[^ \t"'=<>`]+|'[^']*'|"[^"]*"))?)*[\t\n\f\r ]*\/?>|<\/[a-zA-Z][a-zA-Z0-9-]*[\t\n\f\r ]*>)[ \t]*$/

const empty = (line: string) => /^[ \t]*$/.test(line)

/** The number of repetitions of a character at a position. */
export function run(text: string, char: string, at = 0): number {
  let n = 0
  while (text[at + n] === char) n++
  return n
}

/** The fence that a line opens, or null for none. text is the line without its indentation. */
export function opensFence(text: string): Fence | null {
  const char = text[0] ?? ''
  if (char !== '`' && char !== '~') return null
  const length = run(text, char)
  const info = text.slice(length)
  return length < 3 || (char === '`' && info.includes('`')) ? null : { char, length, info }
}

/** Whether a line closes a fence. text is the line without its indentation. */
export function closes(fence: Fence, text: string): boolean {
  const n = run(text, fence.char)
  return n >= fence.length && empty(text.slice(n))
}

function opensHtml(text: string, inParagraph: boolean, start: number): Html | null {
  if (text[0] !== '<') return null
  const ends = (sort: Html['sort'], by: string): Html => ({ sort, until: (line) => line.includes(by), start })
  if (rawTag.test(text)) return { sort: /^<pre/i.test(text) ? 'preformatted' : 'raw', until: (line) => rawEnd.test(line), start }
  if (text.startsWith('<!--')) return ends('comment', '-->')
  if (text.startsWith('<?')) return ends('raw', '?>')
  if (text.startsWith('<![CDATA[')) return ends('raw', ']]>')
  if (/^<![a-z]/i.test(text)) return ends('raw', '>')
  const name = blockTag.exec(text)?.[1]?.toLowerCase()
  if ((name && blockTags.has(name)) || (!inParagraph && anyTag.test(text))) return { sort: 'elements', until: empty, start }
  return null
}

const heading = /^#{1,6}(?:[ \t]|$)/
const underline = /^(?:=+|-+)[ \t]*$/
const rule = /^(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/
/**
 * Matches each line that begins a block here, but not within a definition. It also matches some
 * lines of text, which can only make more notes.
 */
const startsBlock = /^(?:```|~~~|#|<|>|[-+*](?:[ \t]|$)|[-=]+[ \t]*$|(?:[-*_][ \t]*){3,}$|\d{1,9}[.)])/
const mark = /^(?:[-+*]|(\d{1,9})[.)])/

/** Reads the start of a line in columns. A tab extends to the next multiple of four. */
class Cursor {
  at = 0
  #col = 0
  #spare = 0
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The number of columns of leading white space, and the rest of the line. */
  peek(): [indent: number, rest: string] {
    let col = this.#col + this.#spare
    let i = this.at
    for (; i < this.text.length; i++) {
      if (this.text[i] === '\t') col += 4 - (col % 4)
      else if (this.text[i] === ' ') col++
      else break
    }
    return [col - this.#col, this.text.slice(i)]
  }

  skip(columns: number) {
    let k = Math.min(this.#spare, columns)
    this.#spare -= k
    this.#col += k
    for (let n = columns - k; n > 0 && this.at < this.text.length; this.at++, n -= k) {
      const width = this.text[this.at] === '\t' ? 4 - (this.#col % 4) : 1
      k = Math.min(width, n)
      this.#col += k
      this.#spare = width - k
    }
  }

  take(n: number) {
    this.at += n
    this.#col += n
  }

  quoted(indent: number) {
    this.skip(indent)
    this.take(1)
    if (this.peek()[0] > 0) this.skip(1)
  }

  /** Consumes a list item's mark. Returns the content's indentation, or 0 if there is no mark. */
  item(indent: number, rest: string, inParagraph: boolean): number {
    const found = mark.exec(rest)
    if (!found || (inParagraph && found[1] !== undefined && Number(found[1]) !== 1)) return 0
    const width = found[0].length
    const behind = rest.slice(width)
    if ((behind !== '' && behind[0] !== ' ' && behind[0] !== '\t') || (inParagraph && empty(behind))) return 0
    this.skip(indent)
    this.take(width)
    const [columns, content] = this.peek()
    const space = columns > 4 || content === '' ? 1 : columns
    this.skip(space)
    return indent + width + space
  }
}

export class Blocks {
  /** The open leaf block, which contains no other blocks. */
  leaf: 'none' | 'paragraph' | 'fence' | 'indented' | 'html' = 'none'
  fence: Fence | null = null
  html: Html | null = null
  /** Whether the last line opened the fence. */
  opened = false
  /** Whether the last line opened a list item as the innermost container. */
  item = false
  /** Whether the last line begins a paragraph. */
  first = false
  /** The offset of the next line in the text. */
  at = 0
  #stack: Container[] = []
  /** Whether other parsers could begin an HTML block at a line of the open paragraph. */
  #doubtful = false
  /** Whether other parsers could read earlier lines differently. */
  #astray = false
  /** Whether other parsers could add indented lines to an earlier block. */
  #hanging = false
  /** Whether the last lines, up to a blank one, can be a definition list for other parsers. */
  #meaning = false
  /** The last match that was found for each pattern, and the position where the search began. */
  readonly #ends = new Map<RegExp, { at: number; found: RegExpExecArray | null }>()
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  /**
   * Whether every parser treats the last line as code, given that this parser does. Parsers differ
   * on unclosed constructs, after possible HTML, and inside list items. Text that looks like a note
   * is allowed only in code that is code for every parser.
   */
  get sure(): boolean {
    if (this.leaf === 'fence') return this.fence!.sure === true
    return !this.#astray && (this.leaf !== 'indented' || !this.#hanging)
  }

  /** Reads a line, or null at the end of the text. */
  next(): Line | null {
    if (this.at >= this.#source.length) return null
    const start = this.at
    const c = this.#take()
    this.opened = this.item = this.first = false
    const kind = this.#read(c, start)
    return { kind, rest: c.peek()[1], inside: c.text.slice(c.at), start, end: this.at }
  }

  /** Consumes the next line if it is blank within the open containers. */
  takeBlank(): void {
    if (this.at >= this.#source.length) return
    const [at, stack] = [this.at, this.#stack.map((k) => ({ ...k }))]
    const c = this.#take()
    this.#match(c)
    const blank = c.peek()[1] === ''
    this.at = at
    this.#stack = stack
    if (blank) this.next()
  }

  #take(): Cursor {
    const start = this.at
    let end = start
    while (end < this.#source.length && this.#source[end] !== '\n' && this.#source[end] !== '\r') end++
    this.at = Math.min(this.#source.length, end + (this.#source[end] === '\r' && this.#source[end + 1] === '\n' ? 2 : 1))
    return new Cursor(this.#source.slice(start, end))
  }

  /** The first match of a pattern at or after a position. */
  #end(kind: RegExp, from: number): RegExpExecArray | null {
    let known = this.#ends.get(kind)
    if (!known || (known.found && known.found.index < from) || from < known.at) {
      kind.lastIndex = from
      this.#ends.set(kind, (known = { at: from, found: kind.exec(this.#source) }))
    }
    return known.found
  }

  /** Treats an HTML block at a position as elements if a page can show a part of it. */
  #weigh(html: Html, rest: string, at: number, doubtful: boolean) {
    if (html.sort === 'elements') return
    const tag = rawTag.exec(rest)?.[1]?.toLowerCase()
    let hides = false // browsers hide <?, <![CDATA[ and <!x up to the first >
    if (tag) hides = tag !== 'textarea' && this.#end(rawEnds, at)?.[1]!.toLowerCase() === tag
    else if (html.sort === 'comment') hides = this.#end(commentEnds, at + '<!--'.length)?.[0] === '-->'
    if (hides && !doubtful) return
    html.sort = 'elements'
    this.#astray = true
  }

  /** Whether a later line closes a fence. */
  #closes(fence: Fence): boolean {
    const [at, stack] = [this.at, this.#stack.map((k) => ({ ...k }))]
    let closed = false
    while (!closed && this.at < this.#source.length) {
      const c = this.#take()
      if (this.#match(c) < this.#stack.length) break
      const [indent, rest] = c.peek()
      closed = indent <= 3 && closes(fence, rest)
    }
    this.at = at
    this.#stack = stack
    return closed
  }

  #close(containers: number) {
    this.#stack.length = containers
    this.leaf = 'none'
  }

  #open(at: number, container: Container) {
    this.#hanging = true
    this.#close(at)
    this.#stack.push(container)
  }

  #match(c: Cursor): number {
    for (const [i, k] of this.#stack.entries()) {
      const [indent, rest] = c.peek()
      if (k.quote) {
        if (indent > 3 || rest[0] !== '>') return i
        c.quoted(indent)
      } else if (rest === '') {
        if (k.bare) return i
      } else if (indent < k.width) return i
      else {
        c.skip(k.width)
        k.bare = false
      }
    }
    return this.#stack.length
  }

  #read(c: Cursor, start: number): Kind {
    let matched = this.#match(c)
    const all = matched === this.#stack.length
    if (all) {
      const kind = this.#goOn(c)
      if (kind) return kind
    } else if (this.leaf !== 'paragraph') {
      if (this.leaf === 'html') this.#astray = true
      this.#close(matched)
    }
    for (let opened = false; ; opened = true) {
      const [indent, rest] = c.peek()
      const inParagraph = this.leaf === 'paragraph' && !opened
      let doubtful = inParagraph && this.#doubtful
      // For other parsers, such a line continues a definition.
      if (this.#meaning && indent > 0 && indent < 4 && startsBlock.test(rest)) doubtful = this.#astray = true
      if (rest === '') {
        this.#close(matched)
        this.#meaning = false
        return 'blank'
      }
      if (indent >= 4) {
        if (inParagraph) return this.#text(matched, rest)
        this.#close(matched)
        this.leaf = 'indented'
        return 'code'
      }
      if (rest[0] === '>' && matched < maxNesting) {
        this.#open(matched, { quote: true, width: 0, bare: false })
        c.quoted(indent)
        matched++
        this.item = false
        continue
      }
      if (heading.test(rest)) {
        this.#close(matched)
        return 'heading'
      }
      const fence = opensFence(rest)
      if (fence) {
        this.#close(matched)
        this.leaf = 'fence'
        this.fence = fence
        this.opened = true
        fence.sure = !doubtful && !this.#astray && this.#closes(fence)
        return 'code'
      }
      const html = opensHtml(rest, inParagraph, start)
      if (html) {
        this.#close(matched)
        this.#hanging = true
        this.html = html
        this.#weigh(html, rest, start + c.text.length - rest.length, doubtful)
        this.leaf = html.until(rest) ? 'none' : 'html'
        return 'html'
      }
      if (inParagraph && all && underline.test(rest)) {
        this.leaf = 'none'
        return 'heading'
      }
      if (rule.test(rest)) {
        this.#close(matched)
        return 'rule'
      }
      const width = c.item(indent, rest, inParagraph && all)
      if (width === 0 || matched >= maxNesting) {
        if (opened) this.leaf = 'none'
        return this.#text(matched, rest)
      }
      const content = c.peek()[1]
      this.#open(matched, { quote: false, width, bare: content === '' })
      matched++
      this.item = true
      if (content === '') return 'list'
    }
  }

  #goOn(c: Cursor): Kind | null {
    const [indent, rest] = c.peek()
    if (this.leaf === 'fence') {
      if (indent <= 3 && closes(this.fence!, rest)) this.leaf = 'none'
      return 'code'
    }
    if (this.leaf === 'indented') {
      if (rest === '') return 'blank'
      if (indent >= 4) return 'code'
      this.leaf = 'none'
    } else if (this.leaf === 'html') {
      if (!this.html!.until(c.text.slice(c.at))) return 'html'
      this.leaf = 'none'
      return rest === '' ? 'blank' : 'html'
    }
    return null
  }

  #text(matched: number, rest: string): Kind {
    if (this.leaf !== 'paragraph') {
      this.#close(matched)
      this.leaf = 'paragraph'
      this.first = true
      this.#doubtful = false
    }
    if (rest[0] === '<' || rest[0] === '[') this.#doubtful = true
    if (rest[0] === ':') this.#meaning = true
    // For other parsers the line can begin a box, a table, a footnote, or a list whose number
    // cannot begin a list here.
    if (!/^[\p{L}\p{N}]/u.test(rest) || mark.test(rest)) this.#hanging = true
    return 'paragraph'
  }
}
