// Reads and writes the text format for a poll, which is the question and then one line per option.
// The functions have no side effects.
import { length } from './boxes'

export interface WrittenPoll {
  readonly question: string
  readonly options: readonly string[]
  /** The indexes of the options that are marked as right, [x]. */
  readonly right: readonly number[]
}

const option = /^\s*(?:[-*•–]|\d{1,2}[.)])\s+(?:\[( |x|X)\]\s*)?(.+)$/u

/** Parses "Question?\n- one\n- two". Lines before the first option are the question. */
export function readLines(text: string): WrittenPoll {
  const question: string[] = []
  const options: string[] = []
  const right: number[] = []
  for (const line of text.split(/\r?\n/)) {
    const found = option.exec(line)
    if (found) {
      if (found[1] === 'x' || found[1] === 'X') right.push(options.length)
      options.push(found[2]!.trim())
    } else if (line.trim() !== '') {
      // A line after an option continues it.
      if (options.length > 0) options[options.length - 1] += ` ${line.trim()}`
      else question.push(line.trim())
    }
  }
  return { question: question.join(' '), options, right }
}

/** The text that parses to the same poll. */
export function writeLines(question: string, options: readonly string[], right: readonly number[] | null): string {
  return [question, ...options.map((o, i) => `- ${right?.includes(i) ? '[x] ' : ''}${o}`)].join('\n')
}

/**
 * The maximum length of a question and an option in code points, and the maximum number of options
 * and of boxes.
 */
export const limits = { question: 500, options: 10, option: 200, boxes: 4 }

export type Fault = 'question' | 'question_long' | 'options_few' | 'options_many' | 'boxes' | 'option_long' | 'options_same' | 'right_one'

/** The reason why a poll cannot be created, or null. */
export function faultOf(poll: WrittenPoll, kind: string): Fault | null {
  if (poll.question === '') return 'question'
  if (length(poll.question) > limits.question) return 'question_long'
  if (kind === 'text') {
    // The lines are the labels of the boxes.
    if (poll.options.length === 0) return null
    if (poll.options.length === 1 || poll.options.length > limits.boxes) return 'boxes'
  } else if (kind !== 'choice' && kind !== 'several') return null
  if (poll.options.length < 2) return 'options_few'
  if (poll.options.length > limits.options) return 'options_many'
  if (poll.options.some((o) => length(o) > limits.option)) return 'option_long'
  if (new Set(poll.options).size < poll.options.length) return 'options_same'
  return kind === 'choice' && poll.right.length > 1 ? 'right_one' : null
}
