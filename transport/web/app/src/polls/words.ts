// Texts for the kinds of polls.
import type { Poll } from '../workshop/state'
import { m } from '../messages/compiled/messages.js'

export const kinds = ['choice', 'several', 'scale', 'words', 'text'] as const satisfies readonly Poll['kind'][]

export const kindWord: Record<Poll['kind'], () => string> = {
  choice: m.poll_kind_choice,
  several: m.poll_kind_several,
  scale: m.poll_kind_scale,
  words: m.poll_kind_words,
  text: m.poll_kind_text,
}

/** The number of answers as text, such as "34 of 52 have answered". of is 0 if it is unknown. */
export function answered(votes: number, of: number): string {
  return of > 0 ? m.poll_answered_of({ votes, of: Math.max(of, votes) }) : m.poll_answered({ count: votes })
}

/** The person's own vote as text, or empty if the vote is unknown, as in anonymous polls. */
export function ownVote(poll: Poll): string {
  const mine = poll.mine
  if (mine?.choice) return mine.choice.map((i) => poll.options[i]).join(', ')
  if (mine?.scale !== undefined) return scaleLabel(poll, mine.scale)
  return mine?.words?.join(', ') ?? mine?.text ?? ''
}

/** The label of a value of a scale. The ends have the poll's own labels. */
export function scaleLabel(poll: Pick<Poll, 'options'>, place: number): string {
  const [low, high] = poll.options
  const label = place === 1 ? low : place === 5 ? high : undefined
  return label ? m.poll_scale_end({ place, label }) : String(place)
}
