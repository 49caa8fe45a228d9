// Filters of the audit trail. The server filters by action and codelab. This module filters by the
// actor's kind and by text.
import type { Schemas } from '../../api/client'

export type Entry = Schemas['AuditRecord']

export interface Wanted {
  readonly action: string
  readonly codelab: string
  readonly actor: string
  readonly text: string
}

export const anything: Wanted = { action: '', codelab: '', actor: '', text: '' }

/**
 * Whether a record passes the filters that the server does not support: the actor's kind, and words
 * that must all occur in the record or in its text (says).
 */
export function fits(r: Entry, wanted: Wanted, says: (r: Entry) => string = () => ''): boolean {
  if (wanted.actor !== '' && r.actor_type !== wanted.actor) return false
  const all = wanted.text.toLowerCase().split(/\s+/).filter(Boolean)
  if (all.length === 0) return true
  const hay = [r.action, r.actor_id, r.target_id, r.codelab_id, r.ip, r.user_agent, ...Object.entries(r.metadata).flat(), says(r)].join('\n').toLowerCase()
  return all.every((w) => hay.includes(w))
}

/**
 * Appends records that are not in the list yet. New records can shift the pages between two
 * requests, so a page can repeat records.
 */
export function append(held: readonly Entry[], more: readonly Entry[]): Entry[] {
  const ids = new Set(held.map((r) => r.id))
  return [...held, ...more.filter((r) => !ids.has(r.id))]
}
