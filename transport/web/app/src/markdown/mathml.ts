// Converts a formula to a MathML tree. Browsers support only MathML Core, which has no attribute
// for letters of other alphabets, and no aligned columns. This module replaces these features.
import katex from 'katex'

export interface Formula {
  readonly tex: string
  /** Whether the formula is in a separate block. */
  readonly display: boolean
}
export type Tree = string | { readonly tag: string; readonly attributes: Record<string, string>; readonly children: readonly Tree[] }
/**
 * The result for a formula. why is the reason why the formula has no tree, or null if the formula
 * or its tree is too large or too deep.
 */
export type Outcome = { readonly tree: Tree } | { readonly why: string | null }

/**
 * The maximum length of a formula in characters, and the maximum number of elements and texts in
 * its result.
 */
const longest = 5000
const maxNodes = 5000
/** The maximum size that a formula can request, in em. */
const largest = 10
/** The maximum number of macro expansions, including KaTeX's own. */
const maxExpansions = 300
/** The maximum length of a reason, in characters. */
const longestReason = 200

/** The colour that marks unknown or disallowed commands. */
const refused = '#b3261e'

const tags = new Set(
  'math semantics annotation mtext mn mo mi mspace mover munder munderover msup msub msubsup mfrac mroot msqrt mtable mtr mtd mrow menclose mstyle mpadded mphantom'.split(
    ' ',
  ),
)
const attributes = new Set(
  'display displaystyle scriptlevel mathcolor mathbackground mathsize stretchy fence separator lspace rspace minsize maxsize accent accentunder linethickness notation width height depth voffset form largeop movablelimits symmetric'.split(
    ' ',
  ),
)
/**
 * Allowed attribute values: lengths, colours, words and numbers, which cannot reference an external
 * resource.
 */
const plain = /^[\w#.+% -]{1,40}$/

/** Parses a formula. */
export function read({ tex, display }: Formula): Outcome {
  if (tex.length > longest) return { why: null }
  try {
    const made = render(tex, {
      output: 'mathml',
      displayMode: display,
      throwOnError: true,
      errorColor: refused,
      trust: false,
      strict: 'ignore',
      maxSize: largest,
      maxExpand: maxExpansions,
      macros: {},
    })
    const tree = new Reader().tree(made.children[0]!)
    return tree === null ? { why: null } : { tree }
  } catch (e) {
    // KaTeX recurses for each level, so a deep formula causes a stack overflow. This error would
    // not help the author.
    return { why: e instanceof katex.ParseError ? reason(e.message) : null }
  }
}

/**
 * Returns KaTeX's message without the formula, because the page shows the formula next to the
 * message.
 */
function reason(message: string): string {
  return message
    .replace(/^KaTeX parse error: /, '')
    .replace(/ at end of input: [^]*$/, '')
    .replace(/( at position \d+): [^]*$/, '$1')
    .slice(0, longestReason)
}

/** KaTeX's result for a formula before it becomes elements or HTML. */
interface Made {
  type?: string
  attributes?: Record<string, string>
  children?: Made[]
  text?: string
  character?: string | null
  width?: number
}
const render = (katex as unknown as { __renderToDomTree(tex: string, options: object): { children: Made[] } }).__renderToDomTree

class Reader {
  #nodes = 0

  /** Returns the tree of a node, or null if the tree is too large. */
  tree(node: Made, variant = '', cell: string[] = []): Tree | null {
    if (++this.#nodes > maxNodes) return null
    if (node.text !== undefined) return lettered(node.text, variant)
    if (!node.type) {
      // The node is a space of some width, or a group of nodes.
      if (node.children) return this.#element('mrow', {}, node.children, variant)
      if (node.character) return { tag: 'mtext', attributes: {}, children: [node.character] }
      return { tag: 'mspace', attributes: { width: `${(node.width ?? 0).toFixed(4)}em` }, children: [] }
    }
    const given = node.attributes ?? {}
    const kept: Record<string, string> = {}
    for (const [key, value] of Object.entries(given)) if (attributes.has(key) && plain.test(String(value))) kept[key] = String(value)
    if (given.mathcolor === refused) {
      delete kept.mathcolor
      kept.class = 'unknown'
    }
    if (given.style?.startsWith('border')) kept.class = 'framed'
    if (node.type === 'mi' && given.mathvariant === 'normal') kept.mathvariant = 'normal'
    if (cell.length > 0) kept.class = cell.join(' ')
    const tag = tags.has(node.type) ? node.type : 'mrow'
    if (tag === 'mtable') return this.#table(kept, given, node.children ?? [])
    return this.#element(tag, kept, node.children ?? [], given.mathvariant ?? variant)
  }

  #element(tag: string, kept: Record<string, string>, children: Made[], variant: string): Tree | null {
    const out: Tree[] = []
    for (const c of children) {
      const t = this.tree(c, variant)
      if (t === null) return null
      const last = out.at(-1)
      // Adjacent texts are joined, because a screen reader would otherwise read each letter of a
      // word separately.
      if (typeof t === 'string' && typeof last === 'string') out[out.length - 1] = last + t
      else out.push(t)
    }
    return { tag, attributes: kept, children: out }
  }

  /**
   * Returns a table. Its cells have classes for their alignment, and for a missing gap towards the
   * next or previous cell.
   */
  #table(kept: Record<string, string>, given: Record<string, string>, rows: Made[]): Tree | null {
    const aligned = (given.columnalign ?? '').split(' ')
    const gaps = (given.columnspacing ?? '').split(' ')
    const out: Tree[] = []
    for (const row of rows) {
      const cells: Tree[] = []
      if (++this.#nodes > maxNodes) return null
      for (const [i, c] of (row.children ?? []).entries()) {
        const says = [aligned[i] ?? '', gaps[i] === '0em' ? 'joined' : '', i > 0 && gaps[i - 1] === '0em' ? 'joins' : '']
        const t = this.tree(
          c,
          '',
          says.filter((s) => /^(?:left|right|joined|joins)$/.test(s)),
        )
        if (t === null) return null
        cells.push(t)
      }
      out.push({ tag: 'mtr', attributes: {}, children: cells })
    }
    return { tag: 'mtable', attributes: kept, children: out }
  }
}

/**
 * The code points at which the capitals, small letters and digits of a variant begin. 0 means that
 * the variant has no digits.
 */
const alphabets: Record<string, readonly [capitals: number, small: number, digits: number]> = {
  bold: [0x1d400, 0x1d41a, 0x1d7ce],
  italic: [0x1d434, 0x1d44e, 0],
  'bold-italic': [0x1d468, 0x1d482, 0],
  script: [0x1d49c, 0x1d4b6, 0],
  fraktur: [0x1d504, 0x1d51e, 0],
  'double-struck': [0x1d538, 0x1d552, 0x1d7d8],
  'sans-serif': [0x1d5a0, 0x1d5ba, 0x1d7e2],
  'bold-sans-serif': [0x1d5d4, 0x1d5ee, 0x1d7ec],
  'sans-serif-italic': [0x1d608, 0x1d622, 0],
  'sans-serif-bold-italic': [0x1d63c, 0x1d656, 0],
  monospace: [0x1d670, 0x1d68a, 0x1d7f6],
}
/**
 * Letters that Unicode already contained before it added the rest of their alphabet. The key is the
 * code point that is unassigned for this reason.
 */
const earlier: Record<number, number> = {
  0x1d455: 0x210e,
  0x1d49d: 0x212c,
  0x1d4a0: 0x2130,
  0x1d4a1: 0x2131,
  0x1d4a3: 0x210b,
  0x1d4a4: 0x2110,
  0x1d4a7: 0x2112,
  0x1d4a8: 0x2133,
  0x1d4ad: 0x211b,
  0x1d4ba: 0x212f,
  0x1d4bc: 0x210a,
  0x1d4c4: 0x2134,
  0x1d506: 0x212d,
  0x1d50b: 0x210c,
  0x1d50c: 0x2111,
  0x1d515: 0x211c,
  0x1d51d: 0x2128,
  0x1d53a: 0x2102,
  0x1d53f: 0x210d,
  0x1d545: 0x2115,
  0x1d547: 0x2119,
  0x1d548: 0x211a,
  0x1d549: 0x211d,
  0x1d551: 0x2124,
}

/**
 * Returns a text in the letters of a variant, because MathML Core has no attribute for the variant.
 */
function lettered(text: string, variant: string): string {
  const alphabet = alphabets[variant]
  if (!alphabet) return text
  return text.replace(/[A-Za-z0-9]/g, (c) => {
    const i = c < ':' ? 2 : c < '[' ? 0 : 1
    const from = alphabet[i]
    if (!from) return c
    const code = from + c.charCodeAt(0) - 'Aa0'.charCodeAt(i)
    return String.fromCodePoint(earlier[code] ?? code)
  })
}
