import { expect, test } from 'vitest'
import type { Of } from '../live/protocol'
import {
  changeNeedsRead,
  countsAreAhead,
  draftsOf,
  mean,
  noPolls,
  openPoll,
  orderedPolls,
  pollAnswered,
  pollChanged,
  pollCounts,
  pollsRead,
  resultsShown,
  type Polls,
} from './polls'
import type { Poll } from '../workshop/state'

const poll = (more: Partial<Poll> = {}): Poll => ({
  id: 'p1',
  kind: 'choice',
  question: 'Tea?',
  options: ['yes', 'no'],
  anonymous: false,
  step_id: null,
  right: null,
  state: 'open',
  shown: false,
  round: 1,
  opened_at: '2026-01-01T10:00:00.000Z',
  ends_at: null,
  votes: 0,
  of: 0,
  counts: null,
  words: null,
  too_few: false,
  void: false,
  counting: false,
  ...more,
})
const changed = (seq: number, p: Poll | null, id = p?.id ?? 'p1'): Of<'poll_changed'> => ({ type: 'poll_changed', poll_id: id, poll: p, seq, ts: '' })
const counts = (more: Partial<Of<'poll_counts'>> = {}): Of<'poll_counts'> => ({
  type: 'poll_counts',
  poll_id: 'p1',
  round: 1,
  votes: 3,
  of: 9,
  counts: null,
  words: null,
  ...more,
})
const of = (...polls: Poll[]): Polls => pollsRead(noPolls, polls, null)
const only = (polls: Polls) => [...polls.byId.values()][0]

test('a poll is opened, closed and deleted', () => {
  const open = pollChanged(noPolls, changed(5, poll()))
  expect(openPoll(open)?.id).toBe('p1')
  const closed = pollChanged(open, changed(6, poll({ state: 'closed' })))
  expect(openPoll(closed)).toBeNull()
  expect(pollChanged(closed, changed(7, null)).byId.size).toBe(0)
  expect(openPoll(open)?.id).toBe('p1') // the functions do not modify their arguments
})

test('a repeated or late message changes nothing', () => {
  const closed = pollChanged(noPolls, changed(6, poll({ state: 'closed' })))
  expect(pollChanged(closed, changed(5, poll()))).toBe(closed)
  const gone = pollChanged(closed, changed(7, null))
  expect(pollChanged(gone, changed(6, poll({ state: 'closed' })))).toBe(gone)
})

test('values that only reads contain stay until the end of the round', () => {
  const voted = of(poll({ mine: { choice: [1] }, of: 9 }))
  const shown = pollChanged(voted, changed(5, poll({ shown: true, counts: [1, 2], votes: 3 })))
  expect(only(shown)).toMatchObject({ mine: { choice: [1] }, of: 9, votes: 3, counts: [1, 2] })
  expect(only(pollChanged(shown, changed(6, poll({ round: 2 }))))).toMatchObject({ mine: null, of: 0, counts: null })
})

test("a poll that is hidden and shown again keeps the person's own vote without a read", () => {
  const hidden = pollChanged(of(poll({ mine: { choice: [1] }, of: 9 })), changed(5, null))
  const shown = changed(6, poll({ state: 'closed', shown: true, votes: 3 }))
  expect(changeNeedsRead(hidden, shown, false)).toBe(false)
  expect(only(pollChanged(hidden, shown))).toMatchObject({ mine: { choice: [1] }, of: 9 })
  const reset = changed(6, poll({ round: 2, votes: 1 }))
  expect(changeNeedsRead(hidden, reset, false)).toBe(true)
  expect(only(pollChanged(hidden, reset))?.mine).toBeNull()
})

test('counts are used only for the open round', () => {
  const open = of(poll())
  expect(only(pollCounts(open, counts({ counts: [1, 2] })))).toMatchObject({ votes: 3, of: 9, counts: [1, 2] })
  // For an anonymous poll, only the number of votes is known.
  expect(only(pollCounts(open, counts({ counts: null })))).toMatchObject({ votes: 3, counts: null })
  expect(pollCounts(open, counts({ round: 2 }))).toBe(open)
  expect(pollCounts(noPolls, counts())).toBe(noPolls)
  // The counts were sent before the poll was closed.
  const closed = of(poll({ state: 'closed', counts: [4, 4], votes: 8 }))
  expect(pollCounts(closed, counts({ counts: [1, 2] }))).toBe(closed)
})

test('counts of an unknown poll or a later round require a read', () => {
  expect(countsAreAhead(noPolls, counts())).toBe(true)
  expect(countsAreAhead(of(poll()), counts({ round: 2 }))).toBe(true)
  expect(countsAreAhead(of(poll({ round: 2 })), counts())).toBe(false)
  expect(countsAreAhead(pollChanged(of(poll()), changed(4, null)), counts())).toBe(false)
})

test.each([
  ['words are missing from the frame', { kind: 'words', shown: true, votes: 2 }, [], false, true],
  ['words are not visible to the attendee', { kind: 'words', votes: 0 }, [], false, false],
  ["words of an anonymous poll are in a facilitator's frame", { kind: 'words', anonymous: true, shown: true, votes: 0 }, [], true, false],
  ['the attendee may have voted in an unknown poll', { votes: 2 }, [], false, true],
  ['nobody has voted', {}, [], false, false],
  ['a facilitator has no vote', { votes: 2 }, [], true, false],
  ['the round is known', { votes: 2 }, [poll()], false, false],
] as const)('a change needs a read: %s', (_, now, before, leads, wanted) => {
  expect(changeNeedsRead(of(...(before as readonly Poll[])), changed(5, poll(now as Partial<Poll>)), leads)).toBe(wanted)
})

test('a deleted poll and a repeated message need no read', () => {
  expect(changeNeedsRead(noPolls, changed(5, null), true)).toBe(false)
  const known = pollChanged(noPolls, changed(5, poll()))
  expect(changeNeedsRead(known, changed(5, poll({ votes: 3 })), false)).toBe(false)
})

test('known words stay within the round', () => {
  const words = [{ word: 'Go', votes: 2 }]
  const before = of(poll({ kind: 'words', words }))
  expect(only(pollChanged(before, changed(5, poll({ kind: 'words', votes: 3 }))))?.words).toEqual(words)
  expect(only(pollChanged(before, changed(5, poll({ kind: 'words', round: 2 }))))?.words).toBeNull()
})

test('a read that is older than a message does not undo it', () => {
  const told = pollChanged(pollChanged(of(poll(), poll({ id: 'p2' })), changed(8, poll({ state: 'closed' }))), changed(9, null, 'p2'))
  const older = pollsRead(told, [poll(), poll({ id: 'p2' }), poll({ id: 'p3', state: 'draft' })], 7)
  expect([...older.byId.values()].map((p) => [p.id, p.state])).toEqual([
    ['p3', 'draft'],
    ['p1', 'closed'],
  ])
  expect(pollsRead(told, [poll()], 9).byId.get('p1')?.state).toBe('open')
  expect(pollsRead(told, [poll()], null).byId.get('p1')?.state).toBe('open')
})

test('the response to a vote is used unless the poll has changed since', () => {
  const voted = poll({ mine: { choice: [0] }, votes: 1 })
  expect(only(pollAnswered(of(poll({ of: 7 })), voted, null))).toMatchObject({ mine: { choice: [0] }, of: 7 })
  for (const since of [poll({ round: 2 }), poll({ state: 'closed' })]) {
    const polls = of(since)
    expect(pollAnswered(polls, voted, null)).toBe(polls)
  }
})

test("of a response that is older than the last message, only the person's own vote is used", () => {
  const voted = poll({ mine: { choice: [0] }, votes: 1 })
  const shown = pollChanged(of(poll()), changed(8, poll({ shown: true, votes: 5 })))
  expect(only(pollAnswered(shown, voted, 7))).toMatchObject({ mine: { choice: [0] }, shown: true, votes: 5 })
  expect(only(pollAnswered(shown, voted, 8))).toMatchObject({ shown: false, votes: 1 })
  const gone = pollChanged(of(poll()), changed(8, null))
  expect(pollAnswered(gone, voted, 7)).toBe(gone)
})

test('the open poll is first, then closed polls with the newest first, then drafts by creation', () => {
  const polls = of(
    poll({ id: 'd2', state: 'draft', opened_at: null }),
    poll({ id: 'a', state: 'closed', opened_at: '2026-01-01T08:00:00.000Z' }),
    poll({ id: 'd1', state: 'draft', opened_at: null, step_id: 's1' }),
    poll({ id: 'b', state: 'closed', opened_at: '2026-01-01T12:00:00.000Z' }),
    poll({ id: 'c' }),
  )
  expect(orderedPolls(polls).map((p) => p.id)).toEqual(['c', 'b', 'a', 'd1', 'd2'])
  expect(draftsOf(polls, 's1').map((p) => p.id)).toEqual(['d1'])
})

test('results are shown only with counts that are complete, valid and large enough', () => {
  const shown = poll({ shown: true, counts: [1, 2] })
  expect(resultsShown(shown)).toBe(true)
  for (const less of [{ shown: false }, { too_few: true }, { void: true }, { counting: true }, { counts: null }])
    expect(resultsShown({ ...shown, ...less })).toBe(false)
})

test('the mean of a scale is the mean of its votes, or null without votes', () => {
  expect(mean([1, 0, 0, 0, 1])).toBe(3)
  expect(mean([0, 0, 0, 0, 0])).toBeNull()
})
