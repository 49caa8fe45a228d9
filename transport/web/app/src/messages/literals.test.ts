// Components must not contain texts: every text must be in the catalogues, so that it can be
// translated.
import { readdirSync, readFileSync } from 'node:fs'
import { parse, type AST } from 'svelte/compiler'
import { expect, test } from 'vitest'

const root = new URL('..', import.meta.url).pathname

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((f) => f.endsWith('.svelte'))

/** Attributes with visible or spoken texts. */
const shown = new Set(['aria-label', 'aria-roledescription', 'title', 'placeholder', 'alt', 'label', 'hint', 'optional', 'empty'])
/** Words that are the same in every language, and keyboard key names. */
const same = new Set(['Atelier', 'Gemini', 'OpenAI', 'https', 'CSV', 'ZIP'])

/** Returns the texts that are written directly in a component. */
function literals(source: string): string[] {
  const out: string[] = []
  const look = (text: string, where: string) => {
    const words = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
    if (/\p{L}{2}/u.test(words) && !same.has(words)) out.push(`${where}: ${words}`)
  }
  const walk = (node: unknown, inside: string) => {
    if (!node || typeof node !== 'object') return
    if (Array.isArray(node)) {
      for (const n of node) walk(n, inside)
      return
    }
    const n = node as AST.SvelteNode & { name?: string; data?: string; value?: unknown }
    if (n.type === 'Text') {
      if (inside !== 'attribute' && inside !== 'style') look(n.data ?? '', 'text')
      return
    }
    if (n.type?.endsWith('Directive')) return
    if (n.type === 'Attribute') {
      if (shown.has(n.name ?? '') && Array.isArray(n.value)) for (const v of n.value as AST.Text[]) if (v.type === 'Text') look(v.data, n.name ?? '')
      return
    }
    // An expression in the markup can select a text.
    if ((n as { type: string }).type === 'ExpressionTag') {
      const find = (e: unknown) => {
        if (!e || typeof e !== 'object') return
        const x = e as { type?: string; value?: unknown; consequent?: unknown; alternate?: unknown; left?: unknown; right?: unknown }
        if (x.type === 'Literal' && typeof x.value === 'string') look(x.value, 'expression')
        if (x.type === 'ConditionalExpression') [x.consequent, x.alternate].forEach(find)
        if (x.type === 'LogicalExpression') [x.left, x.right].forEach(find)
      }
      if (inside !== 'attribute') find((n as AST.ExpressionTag).expression)
      return
    }
    for (const [key, child] of Object.entries(n)) {
      if (key !== 'parent' && key !== 'metadata') walk(child, n.type === 'RegularElement' && n.name === 'style' ? 'style' : inside)
    }
  }
  walk(parse(source, { modern: true }).fragment, '')
  return out
}

test('the test finds texts', () => {
  expect(literals('<p>Hello there</p>')).toEqual(['text: Hello there'])
  expect(literals('<Button aria-label="Close it">{m.close()}</Button>')).toEqual(['aria-label: Close it'])
  expect(literals("<p>{a ? 'Yes then' : m.no()}</p>")).toEqual(['expression: Yes then'])
  expect(literals('<svelte:head><title>{title} · Atelier</title></svelte:head><kbd>h</kbd><i style:top="{x}px"></i>')).toEqual([])
})

test.each(files)('%s', (file) => {
  expect(literals(readFileSync(root + file, 'utf8'))).toEqual([])
})
