// Computes the state of each codelab in the list, and filters the list.
import type { Schemas } from '../../api/client'

export type Lab = Schemas['Codelab']
export type LabState = 'open' | 'closed' | 'ended'

/** The state of a codelab. The end of a workshop also closes the registration. */
export function stateOf(lab: Pick<Lab, 'ended_at' | 'registration_open'>): LabState {
  if (lab.ended_at !== null) return 'ended'
  return lab.registration_open ? 'open' : 'closed'
}

/** The number of codelabs from which on the list has a filter. */
export const filterFrom = 8

/** The codelabs that contain all words in the title or the author's name. */
export function filtered<T extends Pick<Lab, 'title' | 'author'>>(labs: readonly T[], words: string): readonly T[] {
  const all = fold(words).split(/\s+/).filter(Boolean)
  if (all.length === 0) return labs
  return labs.filter((lab) => {
    const text = fold(`${lab.title} ${lab.author}`)
    return all.every((w) => text.includes(w))
  })
}

/** Whether somebody typed this title, ignoring case and the amount of white space. */
export function sameTitle(typed: string, title: string): boolean {
  return fold(typed).trim().replace(/\s+/g, ' ') === fold(title).trim().replace(/\s+/g, ' ')
}

function fold(text: string): string {
  return text.normalize('NFC').toLowerCase()
}
