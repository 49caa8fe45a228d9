// The texts of the page's language. Each language is loaded alone, in parts: what a
// reader sees at first, what else attendees see, and the rest. A part is loaded with the
// first module that shows one of its texts.
import { getLocale, pseudo, type Locale } from './locale'

/** A text, or the texts of a plural by the categories of Intl.PluralRules. */
type Text = string | Partial<Record<Intl.LDMLPluralRule, string>>
type Load = () => Promise<{ default: Text[] }>

/** The parts that modules need and that are not loaded yet: the function that loads a part, and its promise once called. */
const wanted = new Map<() => Promise<void>, Promise<void> | undefined>()

/** A part of the texts. It is empty until `ready`. */
export function catalogue(parts: Record<Locale, Load>): Text[] {
  const texts: Text[] = []
  const locale = getLocale()
  const load = parts[locale === pseudo ? 'en' : locale]
  wanted.set(async () => void texts.push(...(await load()).default), undefined)
  return texts
}

/** Waits for the texts of all modules that are there. What fails is tried again the next time. */
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

/** Loads a module of the app, and the texts that it shows. */
export async function withTexts<M>(load: () => Promise<M>): Promise<M> {
  const module = await load()
  await ready()
  return module
}

const marks: Record<string, string> = { a: 'á', e: 'ë', i: 'ï', o: 'ö', u: 'ü', y: 'ÿ', c: 'ç', n: 'ñ', A: 'Á', E: 'Ë', I: 'Ï', O: 'Ö', U: 'Ü' }

let plural: Intl.PluralRules | undefined

/** The text at a place of a catalogue, with its parameters; `count` says which one of a plural. */
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
