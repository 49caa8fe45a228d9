// Times, durations and numbers in the reader's language.
import { getLocale } from '../messages/locale'
import { m } from '../messages/compiled/messages.js'

/**
 * The locale for times and numbers: the app's language in the device's region (09:41 or 9:41 AM).
 * The digits are the same as in the app's texts.
 */
export function region(): string {
  const language = getLocale()
  const here = navigator.languages.find((l) => l.split('-')[0] === language.split('-')[0]) ?? language
  return new Intl.Locale(here, { numberingSystem: 'latn' }).toString()
}

/**
 * Caches the results of make, because formatters are expensive and a full room needs hundreds per
 * second.
 */
function kept<F, O>(make: (language: string, options: O) => F): (options: O) => F {
  const made = new Map<string, F>()
  return (options) => {
    const key = getLocale() + JSON.stringify(options)
    let f = made.get(key)
    if (!f) made.set(key, (f = make(region(), options)))
    return f
  }
}

const dates = kept((language, options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(language, options))
const numbers = kept((language, options: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options))

/** Parses a time. Times without a time zone (LocalTimestamp in the OpenAPI document) are in UTC. */
function at(time: string): Date {
  return new Date(/[zZ]$|[+-]\d\d:\d\d$/.test(time) ? time : time + 'Z')
}

/** A time as text, such as "09:41", with the date if it is not today. */
export function clock(time: string, now = new Date()): string {
  const t = at(time)
  const today = t.toDateString() === now.toDateString()
  return dates(today ? { hour: '2-digit', minute: '2-digit' } : { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' }).format(t)
}

/** A date as text, such as "2 March 2026". */
export function day(time: string): string {
  return dates({ dateStyle: 'long' }).format(at(time))
}

/** A date with its time as text, such as "2 Mar 2026, 09:41". */
export function dayAndTime(time: string): string {
  return dates({ dateStyle: 'medium', timeStyle: 'short' }).format(at(time))
}

/** A duration as text, such as "6:10" for 370 seconds and "1:06:10" for one hour more. */
export function stopwatch(seconds: number): string {
  const s = Math.max(0, Math.floor(seconds))
  const two = (n: number) => String(n).padStart(2, '0')
  const h = Math.floor(s / 3600)
  return h > 0 ? `${h}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`
}

/** A rounded duration as text, such as "4 min" or "< 1 min", for waiting and remaining times. */
export function about(seconds: number): string {
  if (seconds < 30) return `< ${m.minutes_short({ count: 1 })}`
  const minutes = Math.round(seconds / 60)
  return minutes < 90 ? m.minutes_short({ count: minutes }) : m.hours_short({ count: Math.round(minutes / 60) })
}

/**
 * A distance in time as text, such as "9 hours ago" for negative seconds and "in 84 days" for
 * positive ones.
 */
export function relative(seconds: number): string {
  const size = Math.abs(seconds)
  const [unit, of] = size < 3600 ? (['minute', 60] as const) : size < 48 * 3600 ? (['hour', 3600] as const) : (['day', 86_400] as const)
  return new Intl.RelativeTimeFormat(region()).format(Math.trunc(seconds / of), unit)
}

/** A short duration as text, such as "2.9 ms", or "1.2 s" from one second on. */
export function moment(ms: number): string {
  const [unit, v] = ms < 1000 ? (['millisecond', ms] as const) : (['second', ms / 1000] as const)
  return numbers({ style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: v < 10 ? 1 : 0 }).format(v)
}

export function number(n: number): string {
  return numbers({}).format(n)
}

/** A share from 0 to 1 as text, such as "34%". */
export function percent(share: number): string {
  return numbers({ style: 'percent', maximumFractionDigits: 0 }).format(share)
}

/**
 * A size as text, in binary units, so that limits are round numbers: 5 MB is 5 × 1024 × 1024 bytes.
 */
export function bytes(n: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const
  let i = 0
  let v = n
  while (v >= 1000 && i < units.length - 1) {
    v /= 1024
    i++
  }
  return numbers({
    style: 'unit',
    unit: units[i],
    unitDisplay: i === 0 ? 'long' : 'short',
    maximumFractionDigits: v < 10 && i > 0 ? 1 : 0,
  }).format(v)
}
