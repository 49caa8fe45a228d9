// The language of this page: as somebody has chosen it on this device, else the first
// that the browser asks for and the app has, else English.
import { locales } from './compiled/locales.js'

export { locales }
export type Locale = (typeof locales)[number]

/**
 * A language that nobody speaks, for tests: the English texts with marks on their
 * letters, made longer and written from right to left. It shows a text that is cut
 * off, laid out to one side, or never translated.
 */
export const pseudo = 'he-XB'

export const localeKey = 'atelier:language'

/** Chinese that is not written in simplified characters. */
const traditional = /^zh-(hant|tw|hk|mo)\b/i

/** The first of the languages asked for that there is: itself, else one of another region. */
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
    return [] // nothing is kept here
  }
}

function find(): Locale | typeof pseudo {
  if (chosen()[0] === pseudo) return pseudo
  const asked = typeof navigator === 'undefined' ? [] : (navigator.languages ?? [])
  return match([...chosen(), ...asked], locales) ?? 'en'
}

// Found when it is first asked for: a module that does something when it is loaded
// would be kept in every part of the app.
let locale: Locale | typeof pseudo | undefined

/** The language of the whole page; another language needs a reload. */
export const getLocale = (): Locale | typeof pseudo => (locale ??= find())

export const getTextDirection = (): 'ltr' | 'rtl' => (/^(ar|he)\b/.test(getLocale()) ? 'rtl' : 'ltr')

/** Reloads the page in another language. */
export function setLocale(id: Locale): void {
  try {
    localStorage.setItem(localeKey, id)
  } catch {
    // Not kept: the page comes back in the language that it has.
  }
  location.reload()
}
