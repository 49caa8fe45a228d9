// The address of a page of a codelab: ?step=4, with &at=2 of its second paragraph, or
// ?page=quiz of a page that is not a step.
import type { Extra, Place } from './reading.svelte'

const pages: readonly Extra[] = ['guide', 'quiz', 'feedback', 'handin', 'done']

export interface Addressed {
  readonly step: number | null
  readonly page: Extra | null
  /** The paragraph, from 1. */
  readonly block: number | null
}

const whole = (text: string | null): number | null => (text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null)

/** The place that an address names. A step beyond the end is the last step. */
export function addressed(search: string, steps: number): Addressed {
  const asked = new URLSearchParams(search)
  const step = whole(asked.get('step'))
  const page = asked.get('page')
  return {
    step: step === null || steps === 0 ? null : Math.min(step, steps),
    page: pages.find((p) => p === page) ?? null,
    block: step === null ? null : whole(asked.get('at')),
  }
}

export function addressOf(place: Place, block: number | null = null): string {
  if (typeof place !== 'number') return `?page=${place}`
  return `?step=${place}${block === null ? '' : `&at=${block}`}`
}
