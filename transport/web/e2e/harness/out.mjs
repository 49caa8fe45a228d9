import { mkdir, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'

/** The output of runs: the pages of failed stories, and the time of each file. */
const out = new URL('../out/', import.meta.url)

/** Whether the stories of the long tier also run. */
export const everything = Boolean(process.env.LONG_TESTS)

/** The file with the time that a story file took, in milliseconds. */
export const timeOf = (file) => new URL(`${basename(file)}${everything ? '.long' : ''}.milliseconds`, out)

/** Writes the time that the current file took. */
export async function recordTime() {
  await mkdir(out, { recursive: true })
  await writeFile(timeOf(process.argv[1]), String(Math.round(performance.now())))
}

/**
 * Writes each page's picture, content and problems, and the server's log. The names begin with the
 * story file's name, because two files can have stories with the same name.
 */
export async function keep(name, visitors, server) {
  const base = `${basename(process.argv[1], '.test.mjs')} ${name}`
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim()
    .replaceAll(' ', '-')
  await mkdir(out, { recursive: true })
  for (const [i, { page, problems }] of visitors.entries()) {
    await page.screenshot({ path: new URL(`${base}-${i}.png`, out).pathname, timeout: 5000 }).catch(() => {})
    const text = await page.content().catch(String)
    await writeFile(new URL(`${base}-${i}.html`, out), `<!-- ${page.url()}\n${problems.join('\n')}\n-->\n${text}`)
  }
  await writeFile(new URL(`${base}.log`, out), server.log.join('\n'))
}
