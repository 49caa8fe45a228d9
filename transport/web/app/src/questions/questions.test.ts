import { expect, test } from 'vitest'
import type { Of } from '../live/protocol'
import type { Question } from '../workshop/state'
import {
  noQuestions,
  questionAnswered,
  questionChanged,
  questionRemoved,
  questionsRead,
  questionVotes,
  ranked,
  waitingCount,
  type Questions,
} from './questions'

const question = (id: string, more: Partial<Question> = {}): Question => ({
  id,
  text: `${id}?`,
  author_id: null,
  author_name: null,
  anonymous: true,
  step_id: null,
  state: 'open',
  answer: null,
  answered_by: null,
  person: null,
  votes: 0,
  mine: false,
  voted: false,
  created_at: '2026-01-01T10:00:00.000Z',
  ...more,
})
const changed = (seq: number, id: string, q: Question | null): Of<'question_changed'> => ({
  type: 'question_changed',
  question_id: id,
  question: q,
  seq,
  ts: '',
})
const of = (...list: Question[]): Questions => questionsRead(noQuestions, list, null)

test('a message keeps the values that only reads contain', () => {
  const before = of(question('a', { mine: true, voted: true }))
  const after = questionChanged(before, changed(5, 'a', question('a', { state: 'answered', answer: 'Yes.' })), 'me')
  expect(after.byId.get('a')).toMatchObject({ state: 'answered', answer: 'Yes.', mine: true, voted: true })
  expect(before.byId.get('a')?.state).toBe('open')
})

test("a new question is the person's own if it contains their id, which anonymous questions do not", () => {
  const named = questionChanged(noQuestions, changed(5, 'a', question('a', { author_id: 'me' })), 'me')
  expect(named.byId.get('a')?.mine).toBe(true)
  expect(questionChanged(noQuestions, changed(5, 'a', question('a')), 'me').byId.get('a')?.mine).toBe(false)
})

test('a repeated or late message changes nothing', () => {
  const gone = questionChanged(of(question('a')), changed(6, 'a', null), 'me')
  expect(gone.byId.size).toBe(0)
  expect(questionChanged(gone, changed(5, 'a', question('a')), 'me')).toBe(gone)
})

test('votes are used only for known questions', () => {
  const after = questionVotes(of(question('a')), { type: 'question_votes', votes: { a: 4, b: 2 } })
  expect([...after.byId.values()].map((q) => [q.id, q.votes])).toEqual([['a', 4]])
})

test('a read that is older than a message does not undo the message, and adds values that messages lack', () => {
  let told = questionChanged(of(question('a'), question('b')), changed(8, 'a', question('a', { state: 'answered' })), 'me')
  told = questionChanged(told, changed(9, 'b', null), 'me')
  const read = questionsRead(told, [question('a', { voted: true }), question('b'), question('c')], 7)
  expect(read.byId.get('a')).toMatchObject({ state: 'answered', voted: true })
  expect([...read.byId.keys()].toSorted()).toEqual(['a', 'c'])
  expect(questionsRead(told, [question('a')], 9).byId.get('a')?.state).toBe('open')
})

test('waiting questions come first, then open questions by votes and age, then answered and hidden questions', () => {
  const at = (m: number) => `2026-01-01T10:0${m}:00.000Z`
  const questions = of(
    question('old', { votes: 1, created_at: at(1) }),
    question('new', { votes: 1, created_at: at(2) }),
    question('most', { votes: 7, created_at: at(3) }),
    question('done', { state: 'answered', votes: 9 }),
    question('hidden', { state: 'hidden' }),
    question('second', { state: 'waiting', created_at: at(5) }),
    question('first', { state: 'waiting', created_at: at(4) }),
  )
  expect(ranked(questions).map((q) => q.id)).toEqual(['first', 'second', 'most', 'old', 'new', 'done', 'hidden'])
  expect(waitingCount(questions)).toBe(2)
})

test("responses to the person's own requests are used at once", () => {
  const asked = questionAnswered(noQuestions, question('a', { mine: true }), null)
  expect(asked.byId.get('a')?.mine).toBe(true)
  expect(questionRemoved(asked, 'a').byId.size).toBe(0)
})

test("of a response that is older than the last message, only the person's own vote is used", () => {
  const answered = questionChanged(of(question('a')), changed(8, 'a', question('a', { state: 'answered', votes: 4 })), 'me')
  const vote = question('a', { voted: true, votes: 1 })
  expect(questionAnswered(answered, vote, 7).byId.get('a')).toMatchObject({ state: 'answered', voted: true, votes: 4 })
  expect(questionAnswered(answered, vote, 8).byId.get('a')).toMatchObject({ state: 'open', votes: 1 })
  const gone = questionChanged(answered, changed(9, 'a', null), 'me')
  expect(questionAnswered(gone, vote, 7)).toBe(gone)
})
