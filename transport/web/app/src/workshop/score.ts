// The result of a quiz that a person sees. The server counts each received free text as
// right; a person should not see that.
import type { Schemas } from '../api/client'
import type { Quiz } from './state'

export interface Score {
  /** Right answers, of those questions that have a right answer. */
  readonly right: number
  readonly of: number
  /** Free texts that were received. */
  readonly received: number
}

export function score(quizzes: readonly Quiz[], results: Schemas['QuizResult']['results']): Score {
  const ok = new Set(results.filter((r) => r.is_correct).map((r) => r.quiz_id))
  const given = (q: Quiz) => ok.has(q.id)
  const choices = quizzes.filter((q) => q.quiz_type !== 'descriptive')
  const texts = quizzes.filter((q) => q.quiz_type === 'descriptive')
  return { right: choices.filter(given).length, of: choices.length, received: texts.filter(given).length }
}
