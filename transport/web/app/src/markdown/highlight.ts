// Colours code with the editor's parsers, which are loaded when a block needs them. Code in
// languages without a parser stays plain.
import type { Parser } from '@lezer/common'
import { highlightTree, tagHighlighter, tags as t } from '@lezer/highlight'

const highlighter = tagHighlighter([
  { tag: [t.keyword, t.controlKeyword, t.definitionKeyword, t.moduleKeyword, t.operatorKeyword, t.modifier, t.tagName, t.heading], class: 't-keyword' },
  { tag: [t.string, t.special(t.string), t.regexp, t.attributeValue, t.inserted], class: 't-string' },
  { tag: [t.number, t.bool, t.null, t.atom, t.unit, t.escape], class: 't-number' },
  { tag: [t.comment, t.lineComment, t.blockComment, t.meta, t.deleted], class: 't-comment' },
  {
    tag: [t.definition(t.variableName), t.function(t.variableName), t.function(t.propertyName), t.typeName, t.className, t.attributeName, t.labelName],
    class: 't-name',
  },
])

const parsers: Record<string, () => Promise<Parser>> = {
  go: async () => (await import('@lezer/go')).parser,
  javascript: async () => (await import('@lezer/javascript')).parser.configure({ dialect: 'jsx' }),
  typescript: async () => (await import('@lezer/javascript')).parser.configure({ dialect: 'ts jsx' }),
  python: async () => (await import('@lezer/python')).parser,
  rust: async () => (await import('@lezer/rust')).parser,
  java: async () => (await import('@lezer/java')).parser,
  cpp: async () => (await import('@lezer/cpp')).parser,
  php: async () => (await import('@lezer/php')).parser,
  html: async () => (await import('@lezer/html')).parser,
  css: async () => (await import('@lezer/css')).parser,
  scss: async () => (await import('@lezer/sass')).parser,
  json: async () => (await import('@lezer/json')).parser,
  yaml: async () => (await import('@lezer/yaml')).parser,
  xml: async () => (await import('@lezer/xml')).parser,
  markdown: async () => (await import('@lezer/markdown')).parser,
}

const names: Record<string, string> = {
  golang: 'go',
  js: 'javascript',
  jsx: 'javascript',
  mjs: 'javascript',
  node: 'javascript',
  ts: 'typescript',
  tsx: 'typescript',
  py: 'python',
  python3: 'python',
  rs: 'rust',
  c: 'cpp',
  h: 'cpp',
  'c++': 'cpp',
  cc: 'cpp',
  kotlin: 'java',
  htm: 'html',
  svelte: 'html',
  vue: 'html',
  jsonc: 'json',
  json5: 'json',
  yml: 'yaml',
  svg: 'xml',
  md: 'markdown',
  sass: 'scss',
  less: 'scss',
}

/** Returns the parser for a language, by any of its names, or null if there is none. */
export function parserOf(language: string): (() => Promise<Parser>) | null {
  const name = names[language.toLowerCase()] ?? language.toLowerCase()
  return Object.hasOwn(parsers, name) ? parsers[name]! : null
}

/**
 * The maximum length of a coloured block, in characters. Nobody needs colours in longer blocks, so
 * they stay plain.
 */
const longest = 50_000

/** Colours a code element, unless it is no longer wanted. */
export async function colour(code: HTMLElement, language: string, unwanted: () => boolean): Promise<void> {
  const load = parserOf(language)
  const text = code.textContent ?? ''
  if (!load || text.length > longest) return
  const parser = await load()
  if (unwanted()) return
  const parts = document.createDocumentFragment()
  let at = 0
  highlightTree(parser.parse(text), highlighter, (from, to, classes) => {
    if (from > at) parts.append(text.slice(at, from))
    const span = document.createElement('span')
    span.className = classes
    span.textContent = text.slice(from, to)
    parts.append(span)
    at = to
  })
  parts.append(text.slice(at))
  code.replaceChildren(parts)
}
