// Decides which of the arriving messages cause a notification.
import type { Told } from '../live/protocol'
import { facilitator, type HelpRequest } from '../workshop/state'
import type { Settings } from './settings.svelte'

export type Reason = 'help' | 'direct' | 'coming' | 'missed' | 'answer' | 'next' | 'broadcast' | 'time'

/** A notification. loud is true if the person has switched it on for this reason. */
export interface Call {
  readonly reason: Reason
  readonly loud: boolean
}

/** The ids of the waiting requests. */
export const waiting = (help: readonly HelpRequest[]): ReadonlySet<string> => new Set(help.filter((h) => h.status === 'pending').map((h) => h.id))

/**
 * Returns the notifications for a facilitator. before contains the requests that were already
 * waiting, because a repeated request causes no notification. If several requests arrive together
 * at an empty queue, only the first of them counts as the first in the queue.
 */
export function facilitatorCalls(told: readonly Told[], before: ReadonlySet<string>, s: Settings): Call[] {
  const known = new Set(before)
  return told.flatMap((t): Call[] => {
    // A claimed request causes no notification, because somebody is handling it. A request that was
    // put back waits for any helper again.
    const waits = (t.type === 'help_request' && t.status === 'pending') || t.type === 'help_released'
    if (waits && !known.has(t.id)) {
      known.add(t.id)
      return [{ reason: 'help', loud: s.help === 'each' || (s.help === 'first' && known.size === 1) }]
    }
    if (t.type === 'dm' && t.sender_id !== facilitator) return [{ reason: 'direct', loud: s.direct }]
    return []
  })
}

/** Returns the notifications for an attendee. */
export function attendeeCalls(told: readonly Told[], s: Settings): Call[] {
  return told.flatMap((t): Call[] => {
    switch (t.type) {
      case 'help_claimed':
        return [{ reason: 'coming', loud: s.turn }]
      case 'help_released':
        return [{ reason: 'missed', loud: s.turn }]
      case 'help_resolved':
        return t.message ? [{ reason: 'answer', loud: s.turn }] : []
      case 'broadcast':
        return [{ reason: 'broadcast', loud: s.broadcast }]
      default:
        return []
    }
  })
}

/** Whether an attendee has just become the first in the queue. */
export const nowNext = (before: number | null, after: number | null): boolean => after === 1 && before !== null && before > 1
