import { m } from '../../messages/compiled/messages.js'
import type { Extra } from './reading.svelte'

/** The pages other than the steps, by name. */
export const extraWord: Record<Extra, () => string> = {
  guide: m.page_guide,
  quiz: m.page_quiz,
  feedback: m.page_feedback,
  handin: m.page_handin,
  done: m.page_done,
}
