// Measures of the floor's texts, in the page's font and language.
import { serverNow } from '../../device/now'
import { m } from '../../messages/compiled/messages.js'
import type { Seat } from '../../workshop/floor'
import type { Setting } from './layout'
import { feelingSign, feelingWord, minutesOf } from './words'

/** The maximum number of cached widths. */
const most = 20_000

/** The second line of a card, in parts: mood, helper, and place. */
export interface StateParts {
  readonly feels: string
  readonly with: string
  readonly place: string
}

export function stateParts(s: Seat, mine: boolean): StateParts {
  return {
    feels: s.feels === 'stuck' || s.feels === 'slow' ? `${feelingSign(s.feels)} ${feelingWord(s.feels).toLocaleLowerCase()}` : '',
    with: s.helper === null ? '' : mine ? m.help_with_you() : m.help_with_other({ name: s.helper }),
    place: s.place ?? '',
  }
}

/**
 * Measures texts in the page's current font. mine returns whether the viewer is helping a person.
 */
export function setting(mine: (s: Seat) => boolean): Setting<Seat> {
  const canvas = document.createElement('canvas').getContext('2d')
  const family = getComputedStyle(document.body).fontFamily
  const known = new Map<string, number>()
  const measure = (text: string, size: number, weight: number) => {
    const key = `${size} ${weight} ${text}`
    let width = known.get(key)
    if (width === undefined) {
      if (known.size > most) known.clear()
      if (canvas) canvas.font = `${weight} ${size}px ${family}`
      known.set(key, (width = canvas ? canvas.measureText(text).width : text.length * size * 0.6))
    }
    return width
  }
  // Numbers are measured with the digit 8, so that the space for names depends only on the number
  // of digits.
  const asides = [8, 88, 888].map((count) => measure(m.minutes_short({ count }), 14, 600) + 10)
  return {
    measure,
    state: (s) => {
      const p = stateParts(s, mine(s))
      return [p.feels, p.with, p.place].filter(Boolean).join(' · ')
    },
    aside: (s) => asides[Math.min(2, String(minutesOf(serverNow(), s.asked || s.onStep)).length - 1)]!,
    rowSides: 24 + measure('88', 13, 400) + 8,
  }
}
