// Makes functions of the catalogues: m.key({ parameter }) gives the text in the
// language of the page. A text is a string with {parameters}, or {one, other}: then
// the parameter "count" says which. Each function is a module of its own, so that a
// screen loads the texts that it shows. A text that one language lacks, or whose
// parameters differ from the English ones, fails the build.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'

const root = new URL('../src/messages/', import.meta.url)
const base = 'en'
const locales = ['en', 'de']

/** The texts of a message, plural or not. */
const texts = (message) => (typeof message === 'string' ? [message] : [message.one, message.other])
const parameters = (message) =>
  [...new Set([...(typeof message === 'string' ? [] : ['count']), ...texts(message).flatMap((t) => [...t.matchAll(/\{(\w+)\}/g)].map((m) => m[1]))])].sort()

/** What is wrong with catalogues, {area: {locale: {key: message}}}. */
export function faults(areas) {
  const out = []
  const where = new Map()
  for (const [area, catalogues] of Object.entries(areas)) {
    const english = catalogues[base]
    for (const key of Object.keys(english)) {
      if (where.has(key)) out.push(`${area}: ${key} is in ${where.get(key)}, too`)
      where.set(key, area)
      if (!/^[a-z][a-z0-9_]*$/.test(key)) out.push(`${area}: ${key} is no name`)
    }
    for (const locale of locales) {
      const catalogue = catalogues[locale] ?? {}
      for (const [key, message] of Object.entries(catalogue)) {
        if (!(key in english)) {
          out.push(`${area}/${locale}: ${key} is not in ${base}`)
          continue
        }
        if (typeof message !== 'string' && (Object.keys(message).join() !== 'one,other' || texts(message).some((t) => typeof t !== 'string'))) {
          out.push(`${area}/${locale}: ${key} is neither a text nor {one, other}`)
          continue
        }
        const [has, wants] = [parameters(message), parameters(english[key])]
        if (has.join() !== wants.join())
          out.push(`${area}/${locale}: ${key} has the parameters ${has.join(', ') || 'none'}, and ${wants.join(', ') || 'none'} in ${base}`)
      }
      for (const key of Object.keys(english)) if (!(key in catalogue)) out.push(`${area}/${locale}: ${key} is missing`)
    }
  }
  return out
}

const template = (text) => '`' + text.replace(/[`\\]|\$(?=\{)/g, '\\$&').replace(/\{(\w+)\}/g, '${i.$1}') + '`'
const expression = (message, locale, tag = '') =>
  typeof message === 'string' ? tag + template(message) : `one(${locale}, i.count) ? ${tag}${template(message.one)} : ${tag}${template(message.other)}`

/** The module of one message, {locale: message}. English is the last resort, and what `say` makes the language of the tests of. */
export function module(key, message) {
  const plural = locales.some((l) => typeof message[l] !== 'string')
  const takes = parameters(message[base]).length > 0 ? 'i' : ''
  const others = locales.filter((l) => l !== base).map((l) => `  if (locale === '${l}') return ${expression(message[l], `'${l}'`)}\n`)
  return `import { getLocale, say } from '../../locale'\n${plural ? "import { one } from '../plural.js'\n" : ''}export const ${key} = (${takes}) => {\n  const locale = getLocale()\n${others.join('')}  return ${expression(message[base], 'locale', 'say')}\n}\n`
}

const plural = `const rules = {}
/** Whether a language speaks of one when there are so many. */
export const one = (locale, count) => (rules[locale] ??= new Intl.PluralRules(locale)).select(Number(count)) === 'one'
`

async function read() {
  const areas = {}
  for (const area of await readdir(root, { withFileTypes: true })) {
    if (!area.isDirectory() || area.name === 'compiled') continue
    areas[area.name] = Object.fromEntries(
      await Promise.all(locales.map(async (l) => [l, JSON.parse(await readFile(new URL(`${area.name}/${l}.json`, root), 'utf8'))])),
    )
  }
  return areas
}

async function write(areas) {
  const to = new URL('compiled/', root)
  await rm(to, { recursive: true, force: true })
  await mkdir(new URL('messages/', to), { recursive: true })
  const index = []
  const types = []
  for (const catalogues of Object.values(areas)) {
    for (const [key, english] of Object.entries(catalogues[base])) {
      const names = parameters(english)
      index.push(`export * from './messages/${key}.js'`)
      types.push(
        `/** ${texts(english).at(-1).replaceAll('*/', '* /')} */\nexport const ${key}: (${names.length > 0 ? `i: { ${names.map((n) => `${n}: ${n === 'count' && typeof english !== 'string' ? 'number' : 'string | number'}`).join('; ')} }` : ''}) => string`,
      )
      await writeFile(new URL(`messages/${key}.js`, to), module(key, Object.fromEntries(locales.map((l) => [l, catalogues[l][key]]))))
    }
  }
  await writeFile(new URL('plural.js', to), plural)
  await writeFile(new URL('index.js', to), index.join('\n') + '\n')
  await writeFile(new URL('index.d.ts', to), types.join('\n') + '\n')
  for (const name of ['messages.js', 'messages.d.ts']) await writeFile(new URL(name, to), "export * as m from './index.js'\n")
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const areas = await read()
  const wrong = faults(areas)
  if (wrong.length > 0) {
    console.error(wrong.join('\n'))
    process.exit(1)
  }
  await write(areas)
}
