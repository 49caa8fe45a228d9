import { mkdir, writeFile } from 'node:fs/promises'
import { basename } from 'node:path'

/** What runs leave behind: what failed stories showed, and how long each file took. */
const out = new URL('../out/', import.meta.url)

/** Whether the stories of the long tier run, too. */
export const everything = Boolean(process.env.LONG_TESTS)

/** Where it is written how many milliseconds a file of stories took. */
export const timeOf = (file) => new URL(`${basename(file)}${everything ? '.long' : ''}.milliseconds`, out)

/** Writes how long the file took that is run. */
export async function recordTime() {
  await mkdir(out, { recursive: true })
  await writeFile(timeOf(process.argv[1]), String(Math.round(performance.now())))
}

/** Writes what each page shows, what went wrong in it, and the server's log. Two files may have stories of one name. */
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
