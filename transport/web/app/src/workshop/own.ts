// The effect of the person's own messages on their record. The server does not send these messages
// back to the connection that sent them. The functions have no side effects.
import type { Kept } from '../live/outbox'
import type { Attendee, Pulse } from './state'

/**
 * Returns the record after a message, or the same record if the message does not change it. at is
 * the time of the message in Unix milliseconds.
 */
export function afterOwn(a: Attendee, message: Kept['message'], at: number): Attendee {
  const time = new Date(at).toISOString()
  switch (message.type) {
    case 'step_progress': {
      const step = message['step_number'] as number
      return { ...a, current_step: step, furthest_step: Math.max(a.furthest_step, step), step_since: time, pulse: null }
    }
    case 'pulse': {
      const state = message['state'] as Pulse | null
      return { ...a, pulse: state === null ? null : { state, step_number: a.current_step, at: time } }
    }
    default:
      return a
  }
}
