// Converts between pages of a codelab and addresses. The address of a step is ?step=4, or
// ?step=4&at=2 for its second paragraph. Other pages have addresses such as ?page=quiz.
import type { Extra, Place } from './reading.svelte'

const pages: readonly Extra[] = ['guide', 'quiz', 'feedback', 'handin', 'done']

export interface Addressed {
  readonly step: number | null
  readonly page: Extra | null
  /** The paragraph, counted from 1. */
  readonly block: number | null
}

const whole = (text: string | null): number | null => (text !== null && /^[1-9]\d{0,5}$/.test(text) ? Number(text) : null)

/** The page in an address. A step after the last one becomes the last step. */
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

/** The address of a page, as a query string. block is a paragraph of a step, counted from 1. */
export function addressOf(place: Place, block: number | null = null): string {
  if (typeof place !== 'number') return `?page=${place}`
  return `?step=${place}${block === null ? '' : `&at=${block}`}`
}
