import type { Timer } from '../workshop/state'
import { m } from '../messages/compiled/messages.js'

/** The name of a timer, which is the facilitator's label, or else its kind. */
export const labelOf = (t: Timer): string => t.label || (t.kind === 'break' ? m.timer_break() : m.timer_exercise())
