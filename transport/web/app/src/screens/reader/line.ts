// Selects the notice for the line at the bottom of the text. The functions have no side effects.

/** The kinds of notices, the most urgent first. */
export const kinds = [
  'broadcast',
  'answer', // a written answer to a request for help
  'over', // signed out of the codelab on this device
  'removed', // the current step was removed
  'direct',
  'coming', // a helper is on the way
  'time', // the timer has run out
  'poll', // open, not answered
  'news', // the attendee's question was answered, or their request waits again
  'results', // not seen yet
  'queue', // the place in the queue
  'voted', // open, answered
  'pin',
  'hints', // the hints were opened
] as const
export type Kind = (typeof kinds)[number]

export interface Notice {
  readonly kind: Kind
  /** Identifies the notice. Another message of the same kind has another id. */
  readonly id: string
}

export const rank = (n: Notice): number => kinds.indexOf(n.kind)

export interface Line {
  /** The id of the visible notice, or null if none is visible. */
  readonly shown: string | null
  /** The ids of the notices of the previous state. */
  readonly known: ReadonlySet<string>
}

export const empty: Line = { shown: null, known: new Set() }

/**
 * The next state of the line. notices are in order of urgency. A new notice replaces a less urgent
 * notice, unless the focus is in the visible notice (held).
 */
export function look(before: Line, notices: readonly Notice[], held: boolean): Line {
  const known = new Set(notices.map((n) => n.id))
  const present = notices.find((n) => n.id === before.shown)
  let shown = present ?? notices[0] ?? null
  if (present && !held) {
    const fresh = notices.find((n) => !before.known.has(n.id))
    if (fresh && rank(fresh) < rank(present)) shown = fresh
  }
  return { shown: shown?.id ?? null, known }
}

/** Shows the next notice, or the first after the last. */
export function turn(before: Line, notices: readonly Notice[]): Line {
  const at = notices.findIndex((n) => n.id === before.shown)
  return { ...before, shown: notices[(at + 1) % Math.max(1, notices.length)]?.id ?? null }
}
