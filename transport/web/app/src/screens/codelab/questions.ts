// The questions of a quiz while they are being edited.
import type { components } from '../../api/schema'

type Quiz = components['schemas']['Quiz']
type Input = components['schemas']['QuizInput']

export interface Option {
  readonly id: string
  readonly text: string
  readonly right: boolean
}

export interface Question {
  /** The id within the page. */
  readonly id: string
  /** The server's id, to which answers belong, or null until the question is saved. */
  readonly server: string | null
  readonly text: string
  readonly type: Quiz['quiz_type']
  readonly options: readonly Option[]
}

/**
 * The maximum number of questions, the maximum number of options per question, and the maximum
 * length of the text of a question or an option in characters.
 */
export const limits = { questions: 200, options: 10, text: 500 }

let next = 1
const fresh = () => `new:${next++}`

export const newOption = (): Option => ({ id: fresh(), text: '', right: false })
export const newQuestion = (): Question => ({ id: fresh(), server: null, text: '', type: 'multiple_choice', options: [newOption(), newOption()] })

export function fromServer(all: readonly Quiz[]): Question[] {
  return all.map((q) => {
    const right = q.correct_answers ?? (q.correct_answer === null ? [] : [q.correct_answer])
    return {
      id: q.id,
      server: q.id,
      text: q.question,
      type: q.quiz_type,
      options: q.options.map((text, i) => ({ id: `${q.id}:${i}`, text, right: right.includes(i) })),
    }
  })
}

/**
 * Returns the questions of the page after a save during which somebody edited them. sent was sent,
 * and saved is the server's version of it, in the same order.
 */
export function withSaved(now: readonly Question[], sent: readonly Question[], saved: readonly Question[]): Question[] {
  return now.map((q) => {
    const i = sent.findIndex((s) => s.id === q.id)
    return i < 0 ? q : q === sent[i] ? saved[i]! : { ...q, server: saved[i]!.server }
  })
}

export function toServer(all: readonly Question[]): Input[] {
  return all.map((q) => {
    const head = { ...(q.server === null ? {} : { id: q.server }), question: q.text.trim(), quiz_type: q.type }
    if (q.type === 'descriptive') return head
    const right = q.options.flatMap((o, i) => (o.right ? [i] : []))
    return { ...head, options: q.options.map((o) => o.text.trim()), ...(right.length > 1 ? { correct_answers: right } : { correct_answer: right[0] ?? null }) }
  })
}

/** Whether two lists would send the same data. */
export function same(a: readonly Question[], b: readonly Question[]): boolean {
  return JSON.stringify(toServer(a)) === JSON.stringify(toServer(b))
}

export type Trouble = 'no_text' | 'few_options' | 'empty_option' | 'twice' | 'none_right'

/** The reason why a question cannot be saved, or null if it can be saved. */
export function trouble(q: Question): Trouble | null {
  if (q.text.trim() === '') return 'no_text'
  if (q.type === 'descriptive') return null
  if (q.options.length < 2) return 'few_options'
  const texts = q.options.map((o) => o.text.trim())
  if (texts.includes('')) return 'empty_option'
  if (new Set(texts).size < texts.length) return 'twice'
  return q.options.some((o) => o.right) ? null : 'none_right'
}

export function changedQuestion(all: readonly Question[], id: string, change: Partial<Question>): Question[] {
  return all.map((q) => (q.id === id ? { ...q, ...change } : q))
}

export function changedOption(q: Question, id: string, change: Partial<Option>): Question {
  return { ...q, options: q.options.map((o) => (o.id === id ? { ...o, ...change } : o)) }
}

/** Moves a question by a number of places. A move beyond either end of the list has no effect. */
export function movedQuestion(all: readonly Question[], id: string, by: number): readonly Question[] {
  const at = all.findIndex((q) => q.id === id)
  const to = at + by
  if (at < 0 || to < 0 || to >= all.length) return all
  const out = all.toSpliced(at, 1)
  out.splice(to, 0, all[at]!)
  return out
}
