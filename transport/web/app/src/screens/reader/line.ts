// Which notice has the one line at the foot of the text. Pure.

/** The kinds of notices, the most urgent first. */
export const kinds = [
  'broadcast',
  'answer', // to one's request for help, in writing
  'over', // one is no longer in the codelab on this device
  'removed', // the step one was at
  'direct',
  'coming', // a helper is on the way
  'time', // the timer has run out
  'poll', // open, and not answered
  'news', // one's question was answered, or one waits again
  'results', // not seen yet
  'queue', // the place in it
  'voted', // the open poll, answered
  'pin',
  'hints', // were opened
] as const
export type Kind = (typeof kinds)[number]

export interface Notice {
  readonly kind: Kind
  /** The same notice has the same id; another message of the kind another. */
  readonly id: string
}

export const rank = (n: Notice): number => kinds.indexOf(n.kind)

export interface Line {
  /** The notice that is shown; null for none. */
  readonly shown: string | null
  /** Those that have been there before. */
  readonly known: ReadonlySet<string>
}

export const empty: Line = { shown: null, known: new Set() }

/**
 * The next state of the line. notices are in order of rank. A new notice replaces a less
 * urgent one, unless somebody writes in it (held).
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

/** The line turned to the next notice, after the last the first. */
export function turn(before: Line, notices: readonly Notice[]): Line {
  const at = notices.findIndex((n) => n.id === before.shown)
  return { ...before, shown: notices[(at + 1) % Math.max(1, notices.length)]?.id ?? null }
}
