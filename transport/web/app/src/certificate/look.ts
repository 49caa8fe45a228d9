// The layout and the texts of a certificate, on the sheet and in the image.
import type { Schemas } from '../api/client'
import { day, region } from '../device/moments'
import { m } from '../messages/compiled/messages.js'

export type Certificate = Schemas['Certificate']

/**
 * The colours of certificates. Each has a contrast of at least 4.5:1 on the paper, which is light
 * in the dark theme too.
 */
export const tones: Record<Certificate['accent'], string> = {
  blue: '#1f5fbf',
  green: '#0f6b5c',
  violet: '#7a3e9d',
  rust: '#9a3a12',
  ink: '#1c1f26',
}
export const paper = { ground: '#fffefb', ink: '#1c1f26', quiet: '#5a606b', line: '#dcd8ce' }

export const serif = "'Source Serif 4 Variable', 'Noto Serif', 'DejaVu Serif', Georgia, serif"

/** Whether a name needs two lines or a smaller font. */
export const isLong = (name: string) => [...name].length > 16

/** The number of hours as text, such as "1½ hours". */
function hoursOf(hours: number): string {
  const parts = new Intl.NumberFormat(region(), { style: 'unit', unit: 'hour', unitDisplay: 'long' }).formatToParts(hours === 0.5 ? 1 : hours)
  if (hours % 1 !== 0.5) return parts.map((p) => p.value).join('')
  const half = hours === 0.5 ? 'integer' : 'fraction'
  return parts.map(({ type, value }) => (type === half ? '½' : type === 'decimal' ? '' : value)).join('')
}

/** The number of steps and hours as text, such as "8 steps, 1½ hours". Zero values are omitted. */
export function extent(c: Pick<Certificate, 'steps' | 'hours'>): string {
  const parts = c.steps > 0 ? [m.certificate_steps({ count: c.steps })] : []
  if (c.hours) parts.push(hoursOf(c.hours))
  return new Intl.ListFormat(region(), { type: 'unit', style: 'short' }).format(parts)
}

/** The facts at the bottom of a certificate, each with its label. Empty facts are omitted. */
export function facts(c: Certificate): { word: string; text: string }[] {
  return [
    { word: m.certificate_led(), text: c.author },
    { word: m.verify_date(), text: day(c.completed_at) },
    { word: m.certificate_extent(), text: extent(c) },
  ].filter((f) => f.text !== '')
}
