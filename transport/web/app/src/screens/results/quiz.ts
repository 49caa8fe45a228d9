// Statistics of the quiz's answers, by question.
import type { Schemas } from '../../api/client'

type Quiz = Schemas['Quiz']
type Answer = Schemas['QuizSubmission']

export interface Question {
  readonly quiz: Quiz
  readonly answers: number
  /** The number of right answers, or null for a question without a right answer. */
  readonly right: number | null
  /**
   * The number of people whose first answer was right, or null for a question without a right
   * answer.
   */
  readonly rightFirst: number | null
  /** The number of people who changed their answer. */
  readonly changed: number
  readonly options: readonly { text: string; count: number; right: boolean }[]
  /** The most frequent wrong answer, as indexes of options. */
  readonly commonWrong: { chosen: readonly number[]; count: number } | null
  /** Free answers, newest first. */
  readonly texts: readonly Answer[]
}

/** The statistics of each question, in the order of the quiz. */
export function byQuestion(quizzes: readonly Quiz[], answers: readonly Answer[]): Question[] {
  const per = grouped(answers)
  return quizzes.map((quiz) => {
    const given = per.get(quiz.id) ?? []
    if (quiz.quiz_type === 'descriptive') {
      const texts = given.filter((a) => a.answer.trim() !== '').toSorted((a, b) => (a.created_at < b.created_at ? 1 : -1))
      return { quiz, answers: texts.length, right: null, rightFirst: null, changed: 0, options: [], commonWrong: null, texts }
    }
    const rightOnes = new Set(quiz.correct_answers ?? (quiz.correct_answer === null ? [] : [quiz.correct_answer]))
    const counts = quiz.options.map(() => 0)
    const wrong = new Map<string, number>()
    for (const a of given) {
      const chosen = choice(a.answer, quiz.options.length)
      for (const i of chosen) counts[i]!++
      if (!a.is_correct && chosen.length > 0) wrong.set(chosen.join(), (wrong.get(chosen.join()) ?? 0) + 1)
    }
    const [common] = [...wrong].sort((a, b) => b[1] - a[1])
    return {
      quiz,
      answers: given.length,
      right: given.filter((a) => a.is_correct).length,
      rightFirst: given.filter((a) => a.first_correct).length,
      changed: given.filter((a) => a.attempts > 1).length,
      options: quiz.options.map((text, i) => ({ text, count: counts[i]!, right: rightOnes.has(i) })),
      commonWrong: common ? { chosen: common[0].split(',').map(Number), count: common[1] } : null,
      texts: [],
    }
  })
}

/** The chosen options. The answer is the JSON text of an option's index, or of an array of them. */
export function choice(answer: string, options: number): number[] {
  let value: unknown
  try {
    value = JSON.parse(answer)
  } catch {
    return []
  }
  const all = (Array.isArray(value) ? value : [value]).filter((i): i is number => Number.isInteger(i) && i >= 0 && i < options)
  return [...new Set(all)].sort((a, b) => a - b)
}

function grouped(answers: readonly Answer[]): Map<string, Answer[]> {
  const map = new Map<string, Answer[]>()
  for (const a of answers) {
    const list = map.get(a.quiz_id)
    if (list) list.push(a)
    else map.set(a.quiz_id, [a])
  }
  return map
}
