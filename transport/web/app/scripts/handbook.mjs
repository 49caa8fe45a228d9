// The handbook: the pages of the repository as modules of the app. The handbook shows the files of
// the repository, so that no text is written twice. Links to other pages of the handbook lead to
// these pages, and other links become text. Pictures of the repository are part of the build.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { marked } from 'marked'

const repository = fileURLToPath(new URL('../../../../', import.meta.url))

/** The pages by their readers. Each has an id, which is part of its address, and a file. */
export const groups = [
  { who: 'attendees', pages: [['attending', 'cmd/atelier/deploy/ATTENDING.md']] },
  { who: 'helpers', pages: [['helping', 'cmd/atelier/deploy/HELPING.md']] },
  { who: 'facilitators', pages: [['workshops', 'cmd/atelier/deploy/WORKSHOPS.md']] },
  { who: 'authors', pages: [['writing', 'cmd/atelier/deploy/AUTHORING.md']] },
  {
    who: 'operators',
    pages: [
      ['tomorrow', 'cmd/atelier/deploy/TOMORROW.md'],
      ['operations', 'cmd/atelier/deploy/OPERATIONS.md'],
      ['cluster', 'cmd/atelier/deploy/CLUSTER.md'],
      ['capacity', 'cmd/atelier/deploy/CAPACITY.md'],
      ['personal-data', 'cmd/atelier/deploy/PERSONAL_DATA.md'],
      ['load-tests', 'bench/README.md'],
      ['load-test-reference', 'bench/REFERENCE.md'],
      ['changes', 'CHANGELOG.md'],
    ],
  },
  {
    who: 'integrators',
    pages: [
      ['rules', 'transport/rest/RULES.md'],
      ['clients', 'transport/rest/clients/README.md'],
      ['receivers', 'transport/rest/clients/webhooks/README.md'],
      ['tokens', 'transport/handler/TOKENS.md'],
      ['token-rules', 'transport/handler/RULES.md'],
      ['commerce', 'transport/commerce/COMMERCE.md'],
      ['schemas', 'transport/commerce/AUTHORING.md'],
      ['commerce-rules', 'transport/commerce/RULES.md'],
    ],
  },
]

const all = groups.flatMap((g) => g.pages.map(([id, file]) => ({ id, file, who: g.who })))

/** The absolute paths of the pages' files. */
export const files = all.map((p) => path.join(repository, p.file))

/** The id that GitHub gives a heading. src/markdown/anchors.ts computes the same ids. */
export const slug = (text) =>
  text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')

/** The visible text of Markdown tokens, without marks. */
function plain(tokens) {
  return tokens.map(words).join('')
}

function words(t) {
  if (t.type === 'table') return [t.header, ...t.rows].map((row) => row.map((cell) => plain(cell.tokens)).join(' ')).join('\n')
  if (t.items) return t.items.map((i) => plain(i.tokens)).join(' ')
  return t.tokens ? plain(t.tokens) : (t.text ?? '')
}

/**
 * Returns the address for a link in a file. Addresses of other sites and fragments stay. The result
 * is null if the link leads to a file that is no page of the handbook.
 */
function place(file, href) {
  if (/^(https?:|mailto:|#)/.test(href)) return href
  const [to, fragment] = href.split('#')
  const page = all.find((p) => p.file === path.posix.join(path.posix.dirname(file), to))
  return page ? `/help/${page.id}${fragment ? '#' + fragment : ''}` : null
}

/**
 * Returns the Markdown with the app's addresses in links, and without comments. A comment in code
 * is part of the page.
 */
function linked(file, text) {
  let out = ''
  for (const { type, raw } of marked.lexer(text)) out += type === 'code' ? raw : type === 'html' ? raw.replace(/<!--[\s\S]*?-->\n?/g, '') : prose(file, raw)
  return out
}

// The placeholder of a picture in the text of a page, until the picture's address in the build is
// known.
const built = (file) => `built:${file}`
const pictures = /(?<=\]\()built:([^()\s]+)(?=\))/

const link = /(`+)[^`][\s\S]*?\1|(!?)\[((?:[^\][]|\[[^\]]*\])*)\]\(([^()\s]+)\)/g

function prose(file, raw) {
  return raw.replace(link, (whole, code, picture, words, href) => {
    if (code) return whole
    if (picture) return `![${words}](${built(path.posix.join(path.posix.dirname(file), href))})`
    const to = place(file, href)
    return to === null ? words : `[${words}](${to})`
  })
}

/** Reads a page: its title, the text after the title, and its sections for the search. */
export function read(page) {
  const text = readFileSync(path.join(repository, page.file), 'utf8')
  const [, title, body] = /^# (.+)\n([\s\S]*)$/.exec(text) ?? []
  if (!title) throw new Error(`${page.file} does not begin with a title, such as "# Title"`)
  const source = linked(page.file, body)
  const sections = [{ place: '', heading: title, text: '' }]
  const used = new Map()
  for (const token of marked.lexer(source)) {
    const text = words(token)
    if (token.type !== 'heading') {
      sections.at(-1).text += text + '\n'
      continue
    }
    const id = slug(text)
    const n = used.get(id) ?? 0
    used.set(id, n + 1)
    sections.push({ place: n === 0 ? id : `${id}-${n}`, heading: text, text: '' })
  }
  return { ...page, title, source, sections }
}

export const pages = () => all.map(read)

const ids = { list: 'virtual:help', sections: 'virtual:help/sections', page: 'virtual:help/page/' }

/**
 * Generates the modules: one with the list of the pages, one per page, and one with all sections
 * for the search.
 */
export function handbook() {
  return {
    name: 'handbook',
    resolveId: (id) => (id === ids.list || id === ids.sections || id.startsWith(ids.page) ? '\0' + id : null),
    load(id) {
      if (!id.startsWith('\0virtual:help')) return null
      files.forEach((f) => this.addWatchFile(f))
      const all = pages()
      const wanted = id.slice(1)
      if (wanted === ids.list) {
        const entry = (p) =>
          `{ id: ${JSON.stringify(p.id)}, who: ${JSON.stringify(p.who)}, title: ${JSON.stringify(p.title)}, load: () => import('${ids.page}${p.id}') }`
        return `export default [${all.map(entry).join(',\n')}]`
      }
      if (wanted === ids.sections) {
        const sections = all.flatMap((p) => p.sections.map((s) => ({ id: `${p.id}#${s.place}`, page: p.title, heading: s.heading, text: s.text.trim() })))
        return `export default JSON.parse(${JSON.stringify(JSON.stringify(sections))})`
      }
      const page = all.find((p) => wanted === ids.page + p.id)
      // Every second part is a picture.
      const parts = page.source.split(pictures)
      const imports = parts.map((file, i) => (i % 2 ? `import p${i} from ${JSON.stringify(path.join(repository, file) + '?url')}\n` : ''))
      return `${imports.join('')}export default [${parts.map((text, i) => (i % 2 ? `p${i}` : JSON.stringify(text))).join(',')}].join('')`
    },
  }
}
