// The signed-in facilitator or assistant, from the session. Pages show parts by rank.
import type { Schemas } from '../api/client'

export type Rank = 'owner' | 'facilitator' | 'assistant'

let rank = $state<Rank>('owner')
let id = $state('')
let name = $state('')

export const leader = {
  get rank(): Rank {
    return rank
  },
  /** The id of the person: the value of `person` in their messages and claimed requests. */
  get id(): string {
    return id
  },
  /** The name that others see. */
  get name(): string {
    return name
  },
  /** Assistants lead what happens live, and change nothing of a codelab. */
  get assists(): boolean {
    return rank === 'assistant'
  },
}

/** The pages of assistants: the list, a codelab's live view, its projector, their account. */
const theirs = /^\/(admin(\/[^/]+(\/projector)?)?|account)\/?$/
const others = /^\/admin\/(audit-logs|participants|settings|people)\/?$/

/** Takes note of a session, and says whether it opens a page. */
export function opens(session: Schemas['Session'], path: string): boolean {
  if (session.role === 'attendee') return false
  rank = session.rank ?? 'owner'
  id = session.sub
  name = session.name ?? ''
  return rank !== 'assistant' || (theirs.test(path) && !others.test(path))
}
