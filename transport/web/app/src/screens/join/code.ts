// The code with which a person comes back to a codelab under the same name.
import { recall, remember } from '../../device/remember'

type Codes = Record<string, string>
const key = (codelab: string) => `codes:${codelab}`
const same = (name: string) => name.trim().normalize('NFC').toLowerCase()

/** The code of this device for a name, or a new one. */
export function codeFor(codelab: string, name: string): string {
  const kept = recall<Codes>(key(codelab), {})[same(name)]
  if (kept) return kept
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (n) => letters[n % letters.length]).join('')
}

export function keepCode(codelab: string, name: string, code: string): void {
  remember(key(codelab), { ...recall<Codes>(key(codelab), {}), [same(name)]: code })
}
