// The signed-in owner, facilitator or assistant, from the session. Their rank decides which parts
// of a page are shown.
import type { Schemas } from '../api/client'

export type Rank = 'owner' | 'facilitator' | 'assistant'

let rank = $state<Rank>('owner')
let id = $state('')
let name = $state('')

export const leader = {
  get rank(): Rank {
    return rank
  },
  /**
   * The person's id. It is the member `person` of the messages that they send and of the requests
   * that they claim.
   */
  get id(): string {
    return id
  },
  /** The name that is shown to other people. */
  get name(): string {
    return name
  },
  /** Assistants act in the live workshop, but cannot change the codelab. */
  get assists(): boolean {
    return rank === 'assistant'
  },
}

/**
 * The pages that assistants are allowed to open: the list, a codelab's live view and projector, and
 * their account.
 */
const theirs = /^\/(admin(\/[^/]+(\/projector)?)?|account)\/?$/
const others = /^\/admin\/(audit-logs|participants|settings|people)\/?$/

/**
 * Stores the session of an owner, a facilitator or an assistant, and returns whether that person is
 * allowed to open the page. For an attendee it stores nothing and returns false.
 */
export function opens(session: Schemas['Session'], path: string): boolean {
  if (session.role === 'attendee') return false
  rank = session.rank ?? 'owner'
  id = session.sub
  name = session.name ?? ''
  return rank !== 'assistant' || (theirs.test(path) && !others.test(path))
}
