import { expect, test } from 'vitest'
import { score } from './score'
import type { Quiz } from './state'

const quiz = (id: string, quiz_type: Quiz['quiz_type']) => ({ id, quiz_type }) as Quiz
const choices = [quiz('1', 'multiple_choice'), quiz('2', 'multiple_choice')]
const text = quiz('3', 'descriptive')
const said = (quiz_id: string, is_correct: boolean) => ({ quiz_id, is_correct })

test.each([
  ['choices count, and a free text is received', [...choices, text], [said('1', true), said('2', false), said('3', true)], { right: 1, of: 2, received: 1 }],
  ['an unanswered question is not right', [...choices, text], [said('3', true)], { right: 0, of: 2, received: 1 }],
  ['an empty free text is not received', [...choices, text], [said('1', true), said('2', true), said('3', false)], { right: 2, of: 2, received: 0 }],
  ['only free texts give no score', [text], [said('3', true)], { right: 0, of: 0, received: 1 }],
] as const)('%s', (_, quizzes, results, want) => {
  expect(score(quizzes, [...results])).toEqual(want)
})
