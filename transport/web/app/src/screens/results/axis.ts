// Labels for time axes, in the reader's language.
import { region } from '../../device/moments'

const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(region(), options)
const day = format({ dateStyle: 'long' })
const short = format({ day: 'numeric', month: 'short' })
const time = format({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** The time of day. All moments are in Unix milliseconds. */
export const hour = (ms: number): string => time.format(ms)
export const dayAndHour = (ms: number): string => `${short.format(ms)}, ${time.format(ms)}`
export const wholeDay = (ms: number): string => day.format(ms)
export const sameDay = (a: number, b: number): boolean => day.format(a) === day.format(b)

/**
 * The labels of the columns: the time of day, with the date where it changes. Columns of a day or
 * more have only a date.
 */
export function ticks(columns: readonly number[], size: number): string[] {
  const days = size >= 86_400_000
  const several = columns.length > 1 && !sameDay(columns[0]!, columns.at(-1)!)
  return columns.map((c, i) => {
    if (days) return short.format(c)
    const first = several && (i === 0 || !sameDay(c, columns[i - 1]!))
    return first ? `${short.format(c)} ${time.format(c)}` : time.format(c)
  })
}

/** The offset of the reader's time zone from UTC at a moment, in milliseconds. */
export const local = (ms: number): number => -new Date(ms).getTimezoneOffset() * 60_000
