// The language of this page: as somebody has chosen it on this device, else the first
// that the browser asks for and the app has, else English.

export const locales = ['en', 'de', 'he-XB'] as const
export type Locale = (typeof locales)[number]

const known = (id: string | null | undefined): id is Locale => (locales as readonly (string | null | undefined)[]).includes(id)
export const localeKey = 'atelier:language'

function chosen(): string | null {
  try {
    return localStorage.getItem(localeKey)
  } catch {
    return null // nothing is kept here
  }
}

function find(): Locale {
  const kept = chosen()
  if (known(kept)) return kept
  const asked = typeof navigator === 'undefined' ? [] : (navigator.languages ?? [])
  return asked.map((l) => (known(l) ? l : l.split('-')[0])).find(known) ?? 'en'
}

// Found when it is first asked for: a module that does something when it is loaded
// would keep the bundler from giving each screen its own texts.
let locale: Locale | undefined

/** The language of all that is on the page; another one needs the page anew. */
export const getLocale = (): Locale => (locale ??= find())

export const getTextDirection = (): 'ltr' | 'rtl' => (getLocale() === 'he-XB' ? 'rtl' : 'ltr')

/** Loads the page anew in another language. */
export function setLocale(id: Locale): void {
  try {
    localStorage.setItem(localeKey, id)
  } catch {
    // Not kept: the page comes back in the language that it has.
  }
  location.reload()
}
