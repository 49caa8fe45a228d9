// Compresses the built app once, so that the server never has to: beside each
// file of text <file>.br and <file>.gz, at the highest quality. The last step
// of a build.
//
//   node scripts/compress.mjs ../built
import { readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

// What is shorter fits into a packet anyway; the server has the same bound.
const smallest = 1024

// What is not compressed already.
const texts = new Set(['.css', '.html', '.js', '.json', '.map', '.mjs', '.svg', '.txt', '.wasm', '.webmanifest', '.xml'])

// What the server writes into the page, and so must find there once.
const places = ['<title>', '</title>', '<!--app:noscript-->']

const folder = process.argv[2]
if (!folder) {
  console.error('usage: node scripts/compress.mjs FOLDER')
  process.exit(2)
}

const page = await readFile(join(folder, 'index.html'), 'utf8').catch(() => fail('there is no index.html: vite build comes first'))
for (const place of places) {
  const times = page.split(place).length - 1
  if (times !== 1) fail(`index.html has ${place} ${times} times, the server needs it once`)
}

// Vite empties the folder, and with it takes what keeps it in the repository.
await writeFile(join(folder, '.gitignore'), '*\n!.gitignore\n')

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)
let before = 0
let after = 0
for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
  const file = join(entry.parentPath, entry.name)
  if (!entry.isFile()) continue
  if (/\.(br|gz)$/.test(entry.name)) {
    continue // of this build, or of the one before when that was not emptied
  }
  await Promise.all([rm(file + '.br', { force: true }), rm(file + '.gz', { force: true })])
  // The server writes into the page, and compresses what comes of it itself.
  if (file === join(folder, 'index.html') || !texts.has(extname(entry.name))) continue
  const body = await readFile(file)
  if (body.length < smallest) continue
  const [br, gz] = await Promise.all([
    brotli(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }),
    zip(body, { level: 9 }),
  ])
  await Promise.all([writeFile(file + '.br', br), writeFile(file + '.gz', gz)])
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
