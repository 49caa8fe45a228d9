// Makes the catalogue of a language that nobody speaks and that is written from
// right to left: longer than English and with marks on its letters, so that
// tests see a text that is cut off, laid out to one side, or never translated.
import { readFile, readdir, writeFile } from 'node:fs/promises'

const root = new URL('../src/messages/', import.meta.url)
const marks = { a: 'á', e: 'ë', i: 'ï', o: 'ö', u: 'ü', y: 'ÿ', c: 'ç', n: 'ñ', A: 'Á', E: 'Ë', I: 'Ï', O: 'Ö', U: 'Ü' }

const pseudo = (text) => {
  const parts = text.split(/(\{[^}]*\})/)
  return '⟦' + parts.map((p) => (p.startsWith('{') ? p : p.replace(/[a-zA-Z]/g, (c) => marks[c] ?? c))).join('') + '·⟧'
}
const walk = (value) => (typeof value === 'string' ? pseudo(value) : { one: pseudo(value.one), other: pseudo(value.other) })

for (const area of await readdir(root, { withFileTypes: true })) {
  if (!area.isDirectory() || area.name === 'compiled') continue
  const catalogue = JSON.parse(await readFile(new URL(`${area.name}/en.json`, root), 'utf8'))
  const out = Object.fromEntries(Object.entries(catalogue).map(([k, v]) => [k, walk(v)]))
  await writeFile(new URL(`${area.name}/he-XB.json`, root), JSON.stringify(out, null, 1) + '\n')
}
