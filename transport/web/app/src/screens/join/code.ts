// The code with which a person returns to a codelab under the same name.
import { recall, remember } from '../../device/remember'

type Codes = Record<string, string>
const key = (codelab: string) => `codes:${codelab}`
const same = (name: string) => name.trim().normalize('NFC').toLowerCase()

/** This device's code for a name, or a new one. */
export function codeFor(codelab: string, name: string): string {
  const kept = recall<Codes>(key(codelab), {})[same(name)]
  if (kept) return kept
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => letters[n % letters.length]).join('')
}

/** Stores the code for a name on this device. */
export function keepCode(codelab: string, name: string, code: string): void {
  remember(key(codelab), { ...recall<Codes>(key(codelab), {}), [same(name)]: code })
}

/**
 * This device's code for a name, in groups that are easy to write down, or null if there is none.
 */
export function codeOf(codelab: string, name: string): string | null {
  const code = recall<Codes>(key(codelab), {})[same(name)]
  return code?.replace(/^([a-z2-9]{4})([a-z2-9]{4})([a-z2-9]{4})([a-z2-9]{4})$/, '$1 $2 $3 $4') ?? null
}

/** A typed code, perhaps in groups, converted to its stored form. */
export function asKept(typed: string): string {
  const text = typed.trim()
  return /^(?:[a-z2-9]{4}[\s-]?){4}$/i.test(text) ? text.replaceAll(/[\s-]/g, '').toLowerCase() : text
}
