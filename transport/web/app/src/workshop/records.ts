// Converts messages to the records that a read would return. A message has an envelope (type, seq,
// ts). It omits fields that the recipient already has, and has other names for a few fields. All
// other fields are copied, so a new field of a record needs no code here. Compilation fails if a
// record needs a field that its message lacks.
import type { Of } from '../live/protocol'
import type { Attendee, ChatMessage, Codelab, HelpRequest } from './state'

export function chatMessage(codelab: string, m: Of<'chat'> | Of<'dm'> | Of<'broadcast'>): ChatMessage {
  const common = { codelab_id: codelab, msg_type: m.type, created_at: m.ts, person: m.person ?? null }
  if (m.type === 'broadcast') {
    const { type, seq, ts, ...record } = m
    return { target_id: null, ...record, ...common }
  }
  const { type, seq, ts, sender, ...record } = m
  return { target_id: null, ...record, ...common, sender_name: sender }
}

/** The pointer's target, or null if there is none. */
export function pointer(m: Of<'pointer'>): Codelab['pointer'] {
  const { type, seq, ts, step_number, ...record } = m
  return step_number === null ? null : { ...record, step_number, person: m.person ?? null }
}

/** An attendee's mood, or null after it was cleared. */
export function pulse(m: Of<'pulse'>): Attendee['pulse'] {
  const { type, seq, ts, attendee_id, attendee_name, state, ...record } = m
  return state === null ? null : { ...record, state, at: ts }
}

/**
 * An open request. old is its known state, which provides the fields that the message omits.
 */
export function helpRequest(codelab: string, m: Of<'help_request'> | Of<'help_claimed'>, old: HelpRequest | undefined): HelpRequest {
  const { type, seq, ts, ...record } = m
  const unsaid = { message: '', created_at: ts, person: null, place: null, answer: null }
  return {
    ...unsaid,
    ...old,
    ...record,
    codelab_id: codelab,
    claimed_by: record.claimed_by ?? null,
    person: m.type === 'help_claimed' ? (m.person ?? null) : null,
    resolved_at: null,
  }
}
