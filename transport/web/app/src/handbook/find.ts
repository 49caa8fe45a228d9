// The search of the handbook.
import MiniSearch from 'minisearch'
import sections from 'virtual:help/sections'

export interface Found {
  /** "<page>#<section>", or only "<page>" for a whole page. */
  id: string
  page: string
  heading: string
  /** An excerpt around the first match. */
  words: string
}

/** Returns at most ten sections, the best first. */
export type Finder = (wanted: string) => Found[]

const most = 10

/** Builds the search index. */
export function finder(): Finder {
  const index = new MiniSearch<(typeof sections)[number]>({
    fields: ['heading', 'page', 'text'],
    storeFields: ['heading', 'page', 'text'],
    searchOptions: {
      prefix: true,
      fuzzy: (word) => (word.length > 4 ? 0.2 : false),
      // With these weights an exact word ranks before a similar word in a heading.
      weights: { prefix: 0.3, fuzzy: 0.1 },
      combineWith: 'AND',
      boost: { heading: 4, page: 2 },
    },
  })
  index.addAll(sections)
  return (wanted) =>
    index
      .search(wanted)
      .slice(0, most)
      .map((r) => ({
        id: String(r.id).replace(/#$/, ''),
        page: String(r.page),
        heading: String(r.heading),
        words: around(String(r.text), Object.keys(r.match)),
      }))
}

/** An excerpt of a text around the first match. */
export function around(text: string, words: readonly string[]): string {
  const line = text.replace(/\s+/g, ' ').trim()
  const at = Math.max(0, Math.min(...words.map((w) => line.toLowerCase().indexOf(w)).filter((i) => i >= 0), line.length))
  const from = at === line.length ? 0 : at
  const begin = from < 40 ? 0 : line.indexOf(' ', from - 40) + 1
  const end = line.length < begin + 140 ? line.length : line.lastIndexOf(' ', begin + 140)
  return (begin > 0 ? '… ' : '') + line.slice(begin, end) + (end < line.length ? ' …' : '')
}
