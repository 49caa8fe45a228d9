// The language, also where the browser keeps nothing for this page: then it is
// the first that the browser asks for. Imported before anything that has words.
import { baseLocale, getLocale, locales, overwriteGetLocale } from '../messages/compiled/runtime.js'

try {
  getLocale()
} catch {
  const asked = navigator.languages.map((l) => l.split('-')[0]).find((l) => (locales as readonly string[]).includes(l ?? ''))
  overwriteGetLocale(() => (asked ?? baseLocale) as (typeof locales)[number])
}
