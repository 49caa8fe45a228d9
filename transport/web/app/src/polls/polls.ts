// The polls of a workshop, which messages and reads update. The functions have no side effects.
import type { Of } from '../live/protocol'
import type { Poll } from '../workshop/state'

export interface Polls {
  readonly byId: ReadonlyMap<string, Poll>
  /** The position of the last message about each poll, including deleted polls. */
  readonly changedAt: ReadonlyMap<string, number>
  /**
   * Data of hidden polls that only a read provides. A closed poll disappears for attendees, and
   * returns when its results are published. Without this data, all attendees would have to read the
   * poll again.
   */
  readonly outOfSight: ReadonlyMap<string, Pick<Poll, 'round' | 'mine' | 'of'>>
}

export const noPolls: Polls = { byId: new Map(), changedAt: new Map(), outOfSight: new Map() }

/**
 * Applies a poll_changed. A message has no effect if a later message about the same poll was
 * applied.
 */
export function pollChanged(polls: Polls, m: Of<'poll_changed'>): Polls {
  if (m.seq <= (polls.changedAt.get(m.poll_id) ?? -1)) return polls
  const byId = new Map(polls.byId)
  const outOfSight = new Map(polls.outOfSight)
  const old = polls.byId.get(m.poll_id)
  if (m.poll === null) {
    byId.delete(m.poll_id)
    if (old) outOfSight.set(m.poll_id, { round: old.round, mine: old.mine ?? null, of: old.of })
  } else {
    // Fields that only a read provides stay if they belong to the same round.
    const known = old ?? polls.outOfSight.get(m.poll_id)
    const same = known?.round === m.poll.round ? known : undefined
    const words = m.poll.words ?? (same !== undefined && same === old ? wordsOf(old, m.poll) : null)
    byId.set(m.poll_id, { ...m.poll, of: Math.max(m.poll.of, same?.of ?? 0), mine: same?.mine ?? null, words })
    outOfSight.delete(m.poll_id)
  }
  return { byId, changedAt: new Map(polls.changedAt).set(m.poll_id, m.seq), outOfSight }
}

/** The known words, unless the message states that the poll has no words to show. */
function wordsOf(old: Poll | undefined, now: Poll): Poll['words'] {
  return now.kind === 'words' && !now.too_few && !now.void && !now.anonymous ? (old?.words ?? null) : null
}

/** Applies a poll_counts. Counts of closed or unknown polls, or of other rounds, have no effect. */
export function pollCounts(polls: Polls, m: Of<'poll_counts'>): Polls {
  const old = polls.byId.get(m.poll_id)
  if (!old || old.state !== 'open' || old.round !== m.round) return polls
  const next: Poll = { ...old, votes: m.votes, of: m.of }
  if (m.counts) next.counts = m.counts
  if (m.words) next.words = m.words
  return { ...polls, byId: new Map(polls.byId).set(m.poll_id, next) }
}

/** Whether the counts are of an unknown poll or a later round, so that a message was missed. */
export function countsAreAhead(polls: Polls, m: Of<'poll_counts'>): boolean {
  const old = polls.byId.get(m.poll_id)
  return old ? m.round > old.round : !polls.changedAt.has(m.poll_id)
}

/**
 * Whether a message lacks data that only a read provides: the words of a named poll with votes, or
 * the person's own vote in an unknown round.
 */
export function changeNeedsRead(before: Polls, m: Of<'poll_changed'>, leads: boolean): boolean {
  const now = m.poll
  if (now === null || m.seq <= (before.changedAt.get(m.poll_id) ?? -1)) return false
  const old = before.byId.get(m.poll_id) ?? before.outOfSight.get(m.poll_id)
  const wordsLeftOut = now.kind === 'words' && !now.anonymous && now.words === null && now.votes > 0 && (leads || now.shown)
  const ownVoteUnknown = !leads && now.votes > 0 && old?.round !== now.round
  return wordsLeftOut || ownVoteUnknown
}

/**
 * Applies a list that was read at a position (null if unknown). Messages after this position
 * override the list.
 */
export function pollsRead(before: Polls, list: readonly Poll[], at: number | null): Polls {
  const newer = (id: string) => at !== null && (before.changedAt.get(id) ?? -1) > at
  const byId = new Map<string, Poll>()
  for (const p of list) if (!newer(p.id)) byId.set(p.id, p)
  for (const [id, p] of before.byId) if (newer(id)) byId.set(id, p)
  return { ...before, byId }
}

/**
 * Applies the response to one's own request about a poll, such as a vote. at is the position of the
 * response (null if unknown). Messages after it override everything but the person's own vote.
 */
export function pollAnswered(polls: Polls, answer: Poll, at: number | null): Polls {
  const old = polls.byId.get(answer.id)
  if (at !== null && (polls.changedAt.get(answer.id) ?? -1) > at) {
    if (old?.round !== answer.round) return polls
    return { ...polls, byId: new Map(polls.byId).set(answer.id, { ...old, mine: answer.mine ?? null }) }
  }
  // Even without a position, a round never decreases and a closed poll does not reopen in its
  // round.
  if (old && (old.round > answer.round || (old.round === answer.round && old.state === 'closed' && answer.state === 'open'))) return polls
  return { ...polls, byId: new Map(polls.byId).set(answer.id, { ...answer, of: old?.round === answer.round ? Math.max(answer.of, old.of) : answer.of }) }
}

export function openPoll(polls: Polls): Poll | null {
  for (const p of polls.byId.values()) if (p.state === 'open') return p
  return null
}

/**
 * The open poll, then closed polls with the last opened first, then drafts in order of creation.
 */
export function orderedPolls(polls: Polls): Poll[] {
  const rank = (p: Poll) => (p.state === 'open' ? 0 : p.opened_at !== null ? 1 : 2)
  return [...polls.byId.values()].toSorted(
    (a, b) => rank(a) - rank(b) || (b.opened_at ?? '').localeCompare(a.opened_at ?? '') || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0),
  )
}

/** The drafts for a step. */
export function draftsOf(polls: Polls, step: string): Poll[] {
  return orderedPolls(polls).filter((p) => p.state === 'draft' && p.step_id === step)
}

/** Whether attendees see the results. */
export const resultsShown = (p: Poll): boolean => p.shown && !p.void && !p.counting && !p.too_few && (p.counts !== null || p.words !== null)

/** The mean of a scale, or null if there are no votes. */
export function mean(counts: readonly number[]): number | null {
  const all = counts.reduce((a, b) => a + b, 0)
  return all === 0 ? null : counts.reduce((sum, n, i) => sum + n * (i + 1), 0) / all
}
