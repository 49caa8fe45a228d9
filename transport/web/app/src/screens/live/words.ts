// A seat of the floor in signs and words.
import { stopwatch } from '../../device/moments'
import { m } from '../../messages/compiled/messages.js'
import { mark, pulseWord } from '../../parts/marks'
import type { Feeling, Seat } from '../../workshop/floor'

export function feelingSign(f: Feeling): string {
  return f === 'silent' ? '·' : mark[f]
}

export function feelingWord(f: Feeling): string {
  return f === 'silent' ? m.pulse_silent() : pulseWord[f]()
}

/** Who helps, in words. */
export function helps(helper: string): string {
  return helper === '' ? m.seat_helped_somebody() : m.seat_helped({ name: helper })
}

/** What one can say of somebody at a glance. Who asks for help or is helped is not silent. */
export function state(s: Seat, now: number): string {
  const open = s.asks || s.helper !== null
  return [
    s.feels === 'silent' && open ? '' : feelingWord(s.feels),
    s.asks ? m.seat_asks() : s.helper !== null ? helps(s.helper) : '',
    s.since ? stopwatch((now - s.since) / 1000) : '',
    s.caughtUp ? m.seat_caught_up() : '',
    s.here ? '' : m.seat_away(),
  ]
    .filter(Boolean)
    .join(', ')
}

/** The same with the name. */
export function describe(s: Seat, now: number): string {
  return [s.name, s.place, state(s, now)].filter(Boolean).join(', ')
}
