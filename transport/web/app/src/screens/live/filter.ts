// The floor filters, which select the highlighted people.
import type { Seat } from '../../workshop/floor'

export type Filter = 'stuck' | 'slow' | 'fine' | 'silent' | 'waiting'

export function matches(s: Seat, only: Filter): boolean {
  if (only === 'waiting') return s.asks
  if (only === 'silent') return s.kind === 'silent'
  return s.feels === only && s.kind !== 'silent'
}
