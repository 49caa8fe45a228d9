// Searches for people by name in a crowd, while somebody types the name.
import type { Column, Seat } from './floor'

/** A match, with the person's current step, or 0 if the person is done. */
export interface Found {
  readonly seat: Seat
  readonly step: number
}

/** A text in the form for comparisons: lower case without accents, so that "zoe" finds "Zoë". */
export function folded(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .trim()
}

/**
 * Searches by name. Folded names are cached, because folding ten thousand names for each typed
 * letter would be slow.
 */
export class Finder {
  #names = new Map<string, string>()

  /**
   * The people whose name contains the text. Names equal to the text come first, then names that
   * begin with it, then names with a word that begins with it, then the others. most limits the
   * returned matches; total counts all matches.
   */
  search(columns: readonly Column[], text: string, most: number): { found: Found[]; total: number } {
    const wanted = folded(text)
    const by: [Found[], Found[], Found[], Found[]] = [[], [], [], []]
    let total = 0
    if (wanted === '') return { found: [], total }
    for (const c of columns) {
      for (const seat of c.seats) {
        const name = this.#fold(seat.name)
        const at = name.indexOf(wanted)
        if (at < 0) continue
        total++
        const kind = by[name === wanted ? 0 : at === 0 ? 1 : name.includes(' ' + wanted) ? 2 : 3]!
        if (kind.length < most) kind.push({ seat, step: c.step })
      }
    }
    return { found: by.flat().slice(0, most), total }
  }

  #fold(name: string): string {
    let known = this.#names.get(name)
    if (known === undefined) {
      if (this.#names.size > 200_000) this.#names.clear() // names of people who left accumulate
      this.#names.set(name, (known = folded(name)))
    }
    return known
  }
}
