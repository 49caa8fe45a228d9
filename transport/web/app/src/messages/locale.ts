// Determines the language of this page. It is the language selected on this device, or else the
// browser's first preference that the app supports, or else English.
import { locales } from './compiled/locales.js'

export { locales }
export type Locale = (typeof locales)[number]

/**
 * An artificial language for tests: the English texts with marks on their letters, lengthened and
 * written from right to left. It reveals texts that are cut off, laid out for one direction only,
 * or never translated.
 */
export const pseudo = 'he-XB'

export const localeKey = 'atelier:language'

/** Chinese in traditional characters, which the simplified texts do not match. */
const traditional = /^zh-(hant|tw|hk|mo)\b/i

/** The first requested language that is available, either exactly or for another region. */
export function match<L extends string>(asked: readonly string[], there: readonly L[]): L | undefined {
  for (const tag of asked) {
    const found =
      there.find((l) => l.toLowerCase() === tag.toLowerCase()) ??
      (traditional.test(tag) ? undefined : there.find((l) => l.split('-')[0] === tag.toLowerCase().split('-')[0]))
    if (found) return found
  }
  return undefined
}

function chosen(): string[] {
  try {
    return [localStorage.getItem(localeKey) ?? ''].filter(Boolean)
  } catch {
    return [] // storage is unavailable, so no language is selected
  }
}

function find(): Locale | typeof pseudo {
  if (chosen()[0] === pseudo) return pseudo
  const asked = typeof navigator === 'undefined' ? [] : (navigator.languages ?? [])
  return match([...chosen(), ...asked], locales) ?? 'en'
}

// The language is determined at the first call. A module with side effects on loading would be
// included in every part of the app.
let locale: Locale | typeof pseudo | undefined

/** The language of the whole page. Another language requires a reload. */
export const getLocale = (): Locale | typeof pseudo => (locale ??= find())

export const getTextDirection = (): 'ltr' | 'rtl' => (/^(ar|he)\b/.test(getLocale()) ? 'rtl' : 'ltr')

/** Reloads the page in another language. */
export function setLocale(id: Locale): void {
  try {
    localStorage.setItem(localeKey, id)
  } catch {
    // The choice cannot be stored, so the page reloads in its current language.
  }
  location.reload()
}
