import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { pieces, type Piece } from './said'

const text = (text: string): Piece => ({ kind: 'text', text })
const code = (text: string): Piece => ({ kind: 'code', text })
const block = (text: string): Piece => ({ kind: 'block', text })
const link = (text: string, href = text, host: string | null = null): Piece => ({ kind: 'link', text, href, host })

describe('a chat message', () => {
  test.each<[string, string, Piece[]]>([
    ['words', '**Hi** <b>\nyou', [text('**Hi** <b>\nyou')]],
    ['code', 'run `go test` now', [text('run '), code('go test'), text(' now')]],
    ['code with backticks in it', '`` a`b ``', [code('a`b')]],
    ['a single backtick', 'a ` b', [text('a ` b')]],
    ['backticks of other lengths', '`a``', [text('`a``')]],
    ['code that would continue on the next line', '`a\nb`', [text('`a\nb`')]],
    ['a block', 'see\n```go\na\n\n  b\n```\nso', [text('see'), block('a\n\n  b'), text('so')]],
    ['a block of tildes', '~~~\n```\n~~~', [block('```')]],
    ['a block that is not closed', '```\na', [block('a')]],
    ['a block that a longer fence closes', '````\n```\n`````', [block('```')]],
    ['an empty block', '```\n```', [text('```\n```')]],
    ['code within three backticks on a line', '```a```', [code('a')]],
    ['an address', 'see https://a.example/b?c=d#e.', [text('see '), link('https://a.example/b?c=d#e'), text('.')]],
    ['an address in brackets', '(https://a.example/b_(c))', [text('('), link('https://a.example/b_(c)'), text(')')]],
    ['an address in angle brackets', '<https://a.example/>', [link('https://a.example/')]],
    ['words for an address', '[here](https://a.example/b)', [link('here', 'https://a.example/b', 'a.example')]],
    ['words that look like another address', '[https://bank.example](https://a.example/)', [link('https://bank.example', 'https://a.example/', 'a.example')]],
    ['an address in code', '`https://a.example`', [code('https://a.example')]],
    ['capitals', 'HTTPS://A.example/x', [link('HTTPS://A.example/x', 'https://a.example/x')]],
    ['an address after a letter', 'xhttps://a.example', [text('xhttps://a.example')]],
    [
      'another scheme',
      '[x](javascript:alert(1)) javascript:alert(1) data:text/html,x ftp://a',
      [text('[x](javascript:alert(1)) javascript:alert(1) data:text/html,x ftp://a')],
    ],
    ['an address with a name before the host', 'https://bank.example@a.example/', [text('https://bank.example@a.example/')]],
    ['no address', 'https:// https://[bad', [text('https:// https://[bad')]],
    ['characters that change the text direction', 'https://a.example/\u202egpj.exe', [link('https://a.example/'), text('\u202egpj.exe')]],
    ['a picture', '![a](https://a.example/a.png)', [text('!'), link('a', 'https://a.example/a.png', 'a.example')]],
  ])('%s', (_, said, want) => expect(pieces(said)).toEqual(want))

  test('the pieces contain the text in order, and only HTTP links', () => {
    const part = fc.oneof(
      fc.constantFrom('`', '``', '```\n', '\n', '~~~', '[a](https://b.example/c)', 'https://d.example', '<', '>', ')', ' ', '\\'),
      fc.string({ maxLength: 3 }),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
        const said = parts.join('')
        const letters = (s: string) => s.replace(/[^a-z]/gi, '')
        const shown = pieces(said)
        // The shown letters are in the text in this order.
        let at = 0
        for (const p of shown) {
          for (const c of letters(p.text)) {
            at = said.indexOf(c, at)
            expect(at).toBeGreaterThanOrEqual(0)
            at++
          }
          if (p.kind === 'link') expect(p.href).toMatch(/^https?:\/\/[^/?#@]+([/?#]|$)/)
        }
        for (let i = 1; i < shown.length; i++) expect(shown[i]!.kind === 'text' && shown[i - 1]!.kind === 'text').toBe(false)
      }),
    )
  })

  test('hostile texts take linear time', () => {
    // A parser that restarted at each mark would take minutes.
    for (const part of ['`', '`` `', '[', '[a](https://b', '[a](', 'https://a)', 'https://a.', '```\n', '~~~\n', '`a\n', '<https://', 'http'])
      expect(pieces(part.repeat(200_000 / part.length)).length).toBeGreaterThan(0)
  })
})
