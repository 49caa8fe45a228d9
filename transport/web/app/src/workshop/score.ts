// The result of a quiz as shown to a person. The server counts each received free text as right,
// which the person should not see.
import type { Schemas } from '../api/client'
import type { Quiz } from './state'

export interface Score {
  /** The number of right answers, among questions that have a right answer. */
  readonly right: number
  readonly of: number
  /** The number of received free texts. */
  readonly received: number
}

export function score(quizzes: readonly Quiz[], results: Schemas['QuizResult']['results']): Score {
  const ok = new Set(results.filter((r) => r.is_correct).map((r) => r.quiz_id))
  const given = (q: Quiz) => ok.has(q.id)
  const choices = quizzes.filter((q) => q.quiz_type !== 'descriptive')
  const texts = quizzes.filter((q) => q.quiz_type === 'descriptive')
  return { right: choices.filter(given).length, of: choices.length, received: texts.filter(given).length }
}
