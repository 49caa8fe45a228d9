// Texts and symbols for a person on the floor.
import { m } from '../../messages/compiled/messages.js'
import { mark, pulseWord } from '../../parts/marks'
import type { Feeling, Seat } from '../../workshop/floor'

export function feelingSign(f: Feeling): string {
  return f === 'silent' ? '·' : mark[f]
}

export function feelingWord(f: Feeling): string {
  return f === 'silent' ? m.pulse_silent() : pulseWord[f]()
}

/** The text with the helper's name. */
export function helps(helper: string): string {
  return helper === '' ? m.seat_helped_somebody() : m.seat_helped({ name: helper })
}

/** Whole minutes since a time, or 0 if the time is unknown (0). Times are in Unix milliseconds. */
export const minutesOf = (now: number, since: number): number => (since === 0 ? 0 : Math.max(0, Math.floor((now - since) / 60_000)))

/** The first name of a person, or the full name if the first is ambiguous in the room. */
export function calledBy(name: string, room: Iterable<string>): string {
  const first = name.trim().split(/\s+/)[0] ?? ''
  if (/\p{N}/u.test(name)) return name // a name with a number, such as Team 7, is never shortened
  for (const other of room) if (other !== name && (other === first || other.startsWith(`${first} `))) return name
  return first
}

/** On a right-to-left page, isolates a name, so that it does not reorder the surrounding text. */
export const isolated = (name: string) => (document.dir === 'rtl' ? `\u2068${name}\u2069` : name)

/**
 * A short text for a person's state. Somebody who asks for help or is being helped is not silent.
 */
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

/** The state with the name, the place, and the request. */
export function describe(s: Seat, now: number): string {
  const who = [s.name, state(s, now), s.place].filter(Boolean).join(', ')
  return s.text ? `${who}: ${s.text}` : who
}
