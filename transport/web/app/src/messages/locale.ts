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

const marks: Record<string, string> = { a: 'á', e: 'ë', i: 'ï', o: 'ö', u: 'ü', y: 'ÿ', c: 'ç', n: 'ñ', A: 'Á', E: 'Ë', I: 'Ï', O: 'Ö', U: 'Ü' }

/**
 * The tag of English texts. In a language that nobody speaks and that is written from
 * right to left they get marks on their letters and become longer, so that tests see
 * a text that is cut off, laid out to one side, or never translated. Made here, it
 * costs no reader a third catalogue.
 */
export function say(texts: TemplateStringsArray, ...values: unknown[]): string {
  const odd = getLocale() === 'he-XB'
  const all = texts.map((t, i) => (odd ? t.replace(/[a-z]/gi, (c) => marks[c] ?? c) : t) + (i < values.length ? String(values[i]) : '')).join('')
  return odd ? `⟦${all}·⟧` : all
}

/** Loads the page anew in another language. */
export function setLocale(id: Locale): void {
  try {
    localStorage.setItem(localeKey, id)
  } catch {
    // Not kept: the page comes back in the language that it has.
  }
  location.reload()
}
