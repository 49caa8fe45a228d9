// The texts of the page's language. Only one language is loaded, in parts: the reader's initial
// texts, the other attendee texts, and the rest. A part is loaded with the first module that shows
// one of its texts.
import { getLocale, pseudo, type Locale } from './locale'

/** A text, or its plural forms by the category of Intl.PluralRules. */
type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>
type Load = () => Promise<{ default: Text[] }>

/**
 * The parts that modules need and that are not loaded yet. The key is the function that loads a
 * part. The value is its promise, after the function was called.
 */
const wanted = new Map<() => Promise<void>, Promise<void> | undefined>()

/** Returns a part of the texts. The part is empty until ready resolves. */
export function catalogue(parts: Record<Locale, Load>): Text[] {
  const texts: Text[] = []
  const locale = getLocale()
  const load = parts[locale === pseudo ? 'en' : locale]
  wanted.set(async () => void texts.push(...(await load()).default), undefined)
  return texts
}

/** Waits for the texts of all loaded modules. The next call retries failed parts. */
export async function ready(): Promise<void> {
  await Promise.all(
    [...wanted].map(async ([load, started]) => {
      const loading = started ?? load()
      wanted.set(load, loading)
      try {
        await loading
        wanted.delete(load)
      } catch (e) {
        wanted.set(load, undefined)
        throw e
      }
    }),
  )
}

/** Loads a module of the app, together with its texts. */
export async function withTexts<M>(load: () => Promise<M>): Promise<M> {
  const module = await load()
  await ready()
  return module
}

const marks: Record<string, string> = { a: 'á', e: 'ë', i: 'ï', o: 'ö', u: 'ü', y: 'ÿ', c: 'ç', n: 'ñ', A: 'Á', E: 'Ë', I: 'Ï', O: 'Ö', U: 'Ü' }

let plural: Intl.PluralRules | undefined

/** The text at a place in a catalogue, with its parameters. `count` selects the plural form. */
export function say(texts: readonly Text[], at: number, parameters: Record<string, unknown> = {}): string {
  const found = texts[at]!
  const odd = getLocale() === pseudo
  let text: string
  if (typeof found === 'string') text = found
  else {
    plural ??= new Intl.PluralRules(odd ? 'en' : getLocale())
    text = found[plural.select(Number(parameters.count))] ?? found.other!
  }
  const fill = (_: string, name: string) => String(parameters[name])
  if (!odd) return text.replace(/\{(\w+)\}/g, fill)
  return `⟦${text.replace(/\{(\w+)\}|[a-z]/gi, (c, name?: string) => (name ? fill(c, name) : (marks[c] ?? c)))}·⟧`
}
