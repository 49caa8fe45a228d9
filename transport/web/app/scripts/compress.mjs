// Compresses the built app once, at the highest quality. <file>.br replaces each text file,
// and the server makes the other encodings from it. The last step of a build.
//
//   node scripts/compress.mjs ../built
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'

// Shorter files fit into a packet without compression. The server has the same bound.
const smallest = 1024

// File types that are not compressed already.
const texts = new Set(['.css', '.html', '.js', '.json', '.map', '.mjs', '.svg', '.txt', '.wasm', '.webmanifest', '.xml'])

// Places at which the server inserts text into the page. The page must contain each of them exactly
// once.
const places = ['<title>', '</title>', '<!--app:noscript-->']

const folder = process.argv[2]
if (!folder) {
  console.error('usage: node scripts/compress.mjs FOLDER')
  process.exit(2)
}

const page = await readFile(join(folder, 'index.html'), 'utf8').catch(() => fail('there is no index.html; run vite build first'))
for (const place of places) {
  const times = page.split(place).length - 1
  if (times !== 1) fail(`index.html contains ${place} ${times} times; the server needs it exactly once`)
}

// Vite empties the folder, including the .gitignore that keeps the folder in the repository.
await writeFile(join(folder, '.gitignore'), '*\n!.gitignore\n')

const brotli = promisify(brotliCompress)
let before = 0
let after = 0
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name)
  if (!entry.isFile()) continue
  // The server writes into the page, and compresses the result itself.
  if (file === join(folder, 'index.html') || !texts.has(extname(entry.name))) continue
  const body = await readFile(file)
  if (body.length < smallest) continue
  const br = await brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } })
  // A file that does not get smaller stays as it is.
  if (br.length >= body.length) continue
  await writeFile(file + '.br', br)
  await rm(file)
  before += body.length
  after += br.length
}
console.log(`compressed ${kB(before)} to ${kB(after)}`)

function kB(bytes) {
  return `${(bytes / 1000).toFixed(1)} kB`
}

function fail(why) {
  console.error('compress:', why)
  process.exit(1)
}
