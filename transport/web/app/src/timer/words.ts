import type { Timer } from '../workshop/state'
import { m } from '../messages/compiled/messages.js'

/** What a timer is called: as the facilitator named it, else by its kind. */
export const labelOf = (t: Timer): string => t.label || (t.kind === 'break' ? m.timer_break() : m.timer_exercise())
