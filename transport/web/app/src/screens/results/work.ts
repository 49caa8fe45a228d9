// Submissions grouped by person.
import type { Submission } from '../../workshop/state'

export interface Person {
  readonly id: string
  readonly name: string
  readonly things: readonly Submission[]
}

/**
 * Groups submissions by person, ordered by name. The submissions of a person are newest first, as
 * in the server's list.
 */
export function byPerson(list: readonly Submission[]): Person[] {
  const people = new Map<string, { id: string; name: string; things: Submission[] }>()
  for (const s of list) {
    const p = people.get(s.attendee_id)
    if (p) p.things.push(s)
    else people.set(s.attendee_id, { id: s.attendee_id, name: s.attendee_name, things: [s] })
  }
  const order = new Intl.Collator(undefined, { numeric: true })
  return [...people.values()].sort((a, b) => order.compare(a.name, b.name))
}

/** Image types that the server allows in the page. The server has checked their content. */
export const isImage = (name: string): boolean => /\.(png|jpe?g|gif|webp)$/i.test(name)

/** Files that are probably text. */
export const isText = (name: string): boolean =>
  /\.(txt|md|markdown|csv|tsv|json|ya?ml|toml|ini|xml|html?|css|s[ac]ss|js|mjs|cjs|jsx|ts|tsx|svelte|vue|go|mod|sum|py|rb|rs|java|kt|kts|scala|swift|c|h|cc|cpp|hpp|cs|php|pl|lua|r|sql|sh|bash|zsh|ps1|bat|diff|patch|log|proto|tf|gradle|dart|ex|exs|erl|hs|ml|clj)$/i.test(
    name,
  ) || /(^|\/)(makefile|dockerfile|readme|license)$/i.test(name)
