// Generates functions from the catalogues: m.key({ parameter }) returns the text in the language of
// the page. A text is a string with {parameters}, or an object with a text for each plural category
// of the language. The parameter "count" then selects the category. The folder of shared texts
// determines the languages. The build fails if a language lacks a text, or if the parameters of a
// text differ from the English ones. Each function is a separate module, and contains the position
// of its text in one of three parts. Each language of a part is also a separate module.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const source = fileURLToPath(new URL('../src/', import.meta.url))
const root = path.join(source, 'messages')
const base = 'en'

/** The files that an attendee's page loads at its start. */
export const firstLoad = ['main.ts', 'screens/reader/Codelab.svelte', 'talk/Talk.svelte', 'markdown/highlight.ts'].map((f) => path.join(source, f))

/** The screens of attendees. */
const screens = ['reader', 'whole', 'certificate'].map((f) => path.join(source, 'screens', f))

/**
 * The areas with texts for attendees. Attendees also see those texts of other areas that their
 * screens use.
 */
const ofAttendees = new Set(['shared', 'attendee'])

const texts = (message) => (typeof message === 'string' ? [message] : Object.values(message))
const named = (text) => [...text.matchAll(/\{(\w+)\}/g)].map((m) => m[1])
const parameters = (message) => [...new Set([...(typeof message === 'string' ? [] : ['count']), ...texts(message).flatMap(named)])].sort()

/**
 * The plural categories of a language. In some languages, "many" is only for millions. These
 * languages use "other" instead.
 */
function categories(locale) {
  const all = new Intl.PluralRules(locale).resolvedOptions().pluralCategories
  return all.filter((c) => c !== 'many' || all.includes('few')).sort()
}

/** Returns the faults of catalogues, which have the form {area: {locale: {key: message}}}. */
export function faults(areas, locales) {
  const out = []
  const where = new Map()
  for (const [area, catalogues] of Object.entries(areas)) {
    const english = catalogues[base]
    for (const key of Object.keys(english)) {
      if (where.has(key)) out.push(`${area}: ${key} is in ${where.get(key)}, too`)
      where.set(key, area)
      if (!/^[a-z][a-z0-9_]*$/.test(key)) out.push(`${area}: ${key} is not a name`)
    }
    for (const locale of locales) {
      const catalogue = catalogues[locale] ?? {}
      const plurals = categories(locale)
      for (const [key, message] of Object.entries(catalogue)) {
        if (!(key in english)) {
          out.push(`${area}/${locale}: ${key} is not in ${base}`)
          continue
        }
        const complete = typeof message === 'string' || Object.keys(message).sort().join() === plurals.join()
        if (!complete || texts(message).some((t) => typeof t !== 'string' || t.trim() === '')) {
          out.push(`${area}/${locale}: ${key} is neither a text nor {${plurals.join(', ')}}`)
          continue
        }
        const [has, wants] = [parameters(message), parameters(english[key])]
        if (has.join() !== wants.join())
          out.push(`${area}/${locale}: ${key} has the parameters ${has.join(', ') || 'none'}, and ${wants.join(', ') || 'none'} in ${base}`)
        // Only the number can be omitted in a plural text, because words can replace it.
        for (const text of texts(message))
          for (const name of wants)
            if (name !== 'count' && !named(text).includes(name)) out.push(`${area}/${locale}: ${key} lacks {${name}} in one of its texts`)
      }
      for (const key of Object.keys(english)) if (!(key in catalogue)) out.push(`${area}/${locale}: ${key} is missing`)
    }
  }
  return out
}

/**
 * Returns the keys of the texts that modules and their imports use. With later, the result also
 * includes modules that are imported dynamically.
 */
export function shown(files, later = false) {
  const keys = new Set()
  // routes.ts loads all screens, so it is not followed.
  const seen = new Set(later ? [path.join(source, 'routes.ts')] : [])
  const imports = later ? /(?:\bfrom|^import|\bimport\()\s*['"](\.[^'"]+)['"]/gm : /(?:\bfrom|^import)\s*['"](\.[^'"]+)['"]/gm
  const look = (file) => {
    if (!/\.(ts|svelte)$/.test(file) || seen.has(file) || !existsSync(file)) return
    seen.add(file)
    const text = readFileSync(file, 'utf8')
    if (text.includes('messages/compiled/messages')) for (const [, key] of text.matchAll(/\bm\.(\w+)/g)) keys.add(key)
    for (const [, to] of text.matchAll(imports)) {
      const at = path.resolve(path.dirname(file), to)
      look(path.extname(at) ? at : at + '.ts')
      look(at + '.ts')
    }
  }
  files.forEach(look)
  return keys
}

/** Returns the keys of each part, in the order of the catalogues. */
function divide(areas) {
  const first = shown(firstLoad)
  const attendees = shown(
    screens.flatMap((folder) => readdirSync(folder).map((file) => path.join(folder, file))),
    true,
  )
  const parts = { first: [], more: [], lead: [] }
  for (const [area, catalogues] of Object.entries(areas))
    for (const key of Object.keys(catalogues[base])) parts[first.has(key) ? 'first' : ofAttendees.has(area) || attendees.has(key) ? 'more' : 'lead'].push(key)
  return parts
}

async function read() {
  const areas = {}
  const files = await readdir(path.join(root, 'shared'))
  const locales = files.map((f) => path.basename(f, '.json')).sort()
  for (const area of await readdir(root, { withFileTypes: true })) {
    if (!area.isDirectory() || area.name === 'compiled') continue
    areas[area.name] = Object.fromEntries(
      await Promise.all(
        locales.map(async (l) => {
          const file = path.join(root, area.name, `${l}.json`)
          return [l, existsSync(file) ? JSON.parse(await readFile(file, 'utf8')) : {}]
        }),
      ),
    )
  }
  return { areas, locales }
}

async function write({ areas, locales }) {
  const to = path.join(root, 'compiled')
  await rm(to, { recursive: true, force: true })
  const put = (name, lines) => writeFile(path.join(to, name), lines.join('\n') + '\n')
  const all = Object.fromEntries(locales.map((l) => [l, Object.assign({}, ...Object.values(areas).map((a) => a[l]))]))
  const index = []
  const types = []
  for (const [part, keys] of Object.entries(divide(areas))) {
    await mkdir(path.join(to, part), { recursive: true })
    for (const l of locales) await put(`${part}/${part}-${l}.js`, [`export default ${JSON.stringify(keys.map((k) => all[l][k]))}`])
    await put(`${part}/index.js`, [
      "import { catalogue } from '../../texts'",
      'export const texts = /* @__PURE__ */ catalogue({',
      ...locales.map((l) => `  '${l}': () => import('./${part}-${l}.js'),`),
      '})',
    ])
    for (const [at, key] of keys.entries()) {
      const english = all[base][key]
      const names = parameters(english)
      const i = names.length > 0 ? 'i' : ''
      const type = (n) => `${n}: ${n === 'count' && typeof english !== 'string' ? 'number' : 'string | number'}`
      index.push(`export * from './${part}/${key}.js'`)
      types.push(`/** ${texts(english).at(-1).replaceAll('*/', '* /')} */`)
      types.push(`export const ${key}: (${i && `i: { ${names.map(type).join('; ')} }`}) => string`)
      await put(`${part}/${key}.js`, [
        "import { say } from '../../texts'",
        "import { texts } from './index.js'",
        `export const ${key} = (${i}) => say(texts, ${[at, i].filter((x) => x !== '').join(', ')})`,
      ])
    }
  }
  await put('locales.js', [`export const locales = ${JSON.stringify(locales)}`])
  await put('locales.d.ts', [`export const locales: readonly ${JSON.stringify(locales)}`])
  await put('index.js', index)
  await put('index.d.ts', types)
  for (const name of ['messages.js', 'messages.d.ts']) await put(name, ["export * as m from './index.js'"])
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = await read()
  const wrong = faults(found.areas, found.locales)
  if (wrong.length > 0) {
    console.error(wrong.join('\n'))
    process.exit(1)
  }
  await write(found)
}
