// Runs the stories, two files concurrently, and lists the failed stories at the end.
//
//   npm run e2e [FILE…]        one story per feature, and the accessibility check
//   npm run e2e:long [FILE…]   all stories
//
// FILE is the name of a file without .test.mjs. The file that took longest in the last run starts
// first. node --test would sort files by name, and a long file could run alone at the end.
import { readdir, readFile, stat } from 'node:fs/promises'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { fileURLToPath } from 'node:url'
import { timeOf } from './harness/out.mjs'

const workers = 2
const here = new URL('.', import.meta.url)

const names = process.argv.slice(2)
const all = (await readdir(here)).filter((file) => file.endsWith('.test.mjs'))
const files = names.length > 0 ? names.map((name) => `${name}.test.mjs`) : all
for (const file of files) if (!all.includes(file)) throw new Error(`there is no ${file}`)

/** The time of each file in the last run, in milliseconds, or the file's size if it has not run. */
const took = new Map()
for (const file of files) {
  const size = async () => (await stat(new URL(file, here))).size
  took.set(file, await readFile(timeOf(file), 'utf8').then(Number, size))
}
files.sort((a, b) => took.get(b) - took.get(a))

run({ files: files.map((file) => fileURLToPath(new URL(file, here))), concurrency: workers })
  .on('test:fail', () => (process.exitCode = 1))
  .pipe(new spec())
  .pipe(process.stdout)
