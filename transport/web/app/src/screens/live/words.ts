// A seat of the floor in signs and words.
import { m } from '../../messages/compiled/messages.js'
import { mark, pulseWord } from '../../parts/marks'
import type { Feeling, Seat } from '../../workshop/floor'

export function feelingSign(f: Feeling): string {
  return f === 'silent' ? '·' : mark[f]
}

export function feelingWord(f: Feeling): string {
  return f === 'silent' ? m.pulse_silent() : pulseWord[f]()
}

/** The name of the helper, in words. */
export function helps(helper: string): string {
  return helper === '' ? m.seat_helped_somebody() : m.seat_helped({ name: helper })
}

/** Whole minutes since a moment, both Unix milliseconds; 0 for a moment that is not known. */
export const minutesOf = (now: number, since: number): number => (since === 0 ? 0 : Math.max(0, Math.floor((now - since) / 60_000)))

/** The name by which people call somebody in a room: the first of their names, unless that says too little. */
export function calledBy(name: string, room: Iterable<string>): string {
  const first = name.trim().split(/\s+/)[0] ?? ''
  if (/\p{N}/u.test(name)) return name // Team 7
  for (const other of room) if (other !== name && (other === first || other.startsWith(`${first} `))) return name
  return first
}

/** A name in letters of the other direction leaves the words around it in their order. */
export const isolated = (name: string) => (document.dir === 'rtl' ? `\u2068${name}\u2069` : name)

/** A person's state at a glance. Somebody who asks for help or is helped is not silent. */
export function state(s: Seat, now: number): string {
  const open = s.asks || s.helper !== null
  return [
    s.feels === 'silent' && open ? '' : feelingWord(s.feels),
    s.asks ? m.seat_waits({ time: m.minutes_short({ count: minutesOf(now, s.asked) }) }) : s.helper !== null ? helps(s.helper) : '',
    !open && s.onStep ? m.minutes_short({ count: minutesOf(now, s.onStep) }) : '',
    s.caughtUp ? m.seat_caught_up() : '',
    s.here ? '' : m.seat_away(),
    s.simulated ? m.simulated() : '',
  ]
    .filter(Boolean)
    .join(', ')
}

/** The same with the name, where they sit, and what they asked. */
export function describe(s: Seat, now: number): string {
  const who = [s.name, state(s, now), s.place].filter(Boolean).join(', ')
  return s.text ? `${who}: ${s.text}` : who
}
