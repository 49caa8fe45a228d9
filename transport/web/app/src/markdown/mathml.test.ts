import { describe, expect, test } from 'vitest'
import { read, type Outcome, type Tree } from './mathml'

/** A tree in readable form, with short end tags. */
function written(tree: Tree): string {
  if (typeof tree === 'string') return tree
  const attributes = Object.entries(tree.attributes).map(([k, v]) => ` ${k}=${v}`)
  return `<${tree.tag}${attributes.join('')}>${tree.children.map(written).join('')}</>`
}
const of = (tex: string, display = false): string => {
  const made: Outcome = read({ tex, display })
  return 'tree' in made ? written(made.tree) : `why: ${String(made.why)}`
}

describe('formulas', () => {
  test('become MathML', () => expect(of('x^2')).toBe('<math><semantics><mrow><msup><mi>x</><mn>2</></></><annotation>x^2</></></>'))
  test('can be displayed as a block', () => expect(of('x', true)).toMatch(/^<math display=block>/))
  test('can have letters of other alphabets', () => {
    expect(of('\\mathbb{RZQ}')).toContain('<mi>ℝ</><mi>ℤ</><mi>ℚ</>')
    expect(of('\\mathcal{L}')).toContain('ℒ')
    expect(of('\\mathbf{x1}')).toMatch(/𝐱.*𝟏/u)
    expect(of('\\mathfrak{g}\\mathtt{a}')).toMatch(/𝔤.*𝚊/u)
    expect(of('\\sin')).toContain('sin')
  })
  test('can have aligned columns', () => {
    const table = of('\\begin{aligned} a &= b \\\\ c &= d \\end{aligned}', true)
    expect(table).toMatch(/<mtd class=right joined>.*<mtd class=left joins>/)
  })
  test('keep a text with a space together', () => expect(of('\\text{if so}')).toMatch(/<mtext>if\sso<\/>/))
  test('report syntax errors', () => {
    expect(of('\\frac{1}{')).toBe("why: Unexpected end of input in a macro argument, expected '}'")
    expect(of('a}')).toMatch(/^why: Expected 'EOF', got '}' at position 2$/)
    expect(of('\\nosuchcommand')).toMatch(/^why: Undefined control sequence/)
  })
})

describe('hostile formulas', () => {
  test.each([
    ['links', '\\href{javascript:alert(1)}{x}\\url{javascript:alert(1)}'],
    ['pictures', '\\includegraphics[width=1em]{https://example.org/a.png}'],
    ['HTML', '\\htmlStyle{position:fixed}{x}\\htmlClass{a}{x}\\htmlId{app}{x}\\htmlData{a=b}{x}'],
    ['styles', '\\pmb{x}\\fcolorbox{red}{blue}{x}\\colorbox{url(https://example.org)}{x}'],
    ['markup', '\\text{<img src=x onerror=alert(1)>}'],
  ])('%s become only allowed elements and attributes', (_, tex) => {
    const made = read({ tex, display: true })
    const walk = (tree: Tree) => {
      if (typeof tree === 'string') return
      expect(tree.tag).toMatch(/^(?:math|semantics|annotation|m[a-z]+)$/)
      expect(tree.tag).not.toBe('mglyph')
      for (const [key, value] of Object.entries(tree.attributes)) {
        expect(key).not.toMatch(/^(?:href|src|style|id|on.*|data-.*)$/)
        expect(value).not.toMatch(/[:(]/)
      }
      tree.children.forEach(walk)
    }
    if ('tree' in made) walk(made.tree)
  })

  test('a refused command is marked with a class, not with a colour', () => expect(of('\\href{https://example.org}{x}')).toContain('<mstyle class=unknown>'))

  test.each([
    ['a formula of 100 kB', 'x^'.repeat(50_000)],
    ['too many elements', 'xy'.repeat(2500)],
  ])('%s is not typeset', (_, tex) => expect(read({ tex, display: false })).toEqual({ why: null }))

  test('the number of macro expansions is limited', () => {
    expect(of('\\def\\a{\\a}\\a')).toMatch(/^why: Too many expansions/)
    expect(of('\\def\\a{xx}\\def\\b{\\a\\a}\\def\\c{\\b\\b\\b\\b}\\def\\d{\\c\\c\\c\\c\\c\\c\\c\\c\\c\\c}\\d\\d\\d\\d\\d\\d\\d')).toMatch(
      /^why: Too many expansions/,
    )
  })
  test('a macro of one formula is undefined in the next', () => {
    of('\\gdef\\a{x}\\a')
    expect(of('\\a')).toMatch(/^why: Undefined/)
  })
  test('sizes are limited', () => expect(of('\\rule{9999em}{9999em}')).toMatch(/width=10em height=10em/))
  test('deep nesting does not throw', () =>
    expect(['why: null', 'tree']).toContain(of('{'.repeat(2400) + 'x' + '}'.repeat(2400)).startsWith('why') ? 'why: null' : 'tree'))
})
