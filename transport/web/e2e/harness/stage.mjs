import { mkdir, writeFile } from 'node:fs/promises'
import { after, before, test as nodeTest } from 'node:test'
import { openBrowser, Visitor } from './browser.mjs'
import { Person } from './people.mjs'
import { Server } from './server.mjs'

export { until } from './until.mjs'
export { accessible, barriers, sound, turn } from './accessibility.mjs'
export { offline } from './browser.mjs'
export { Person, Refused } from './people.mjs'

/** Where a failed test leaves what it showed. */
const out = new URL('../out/', import.meta.url)

/** How long one test may take, milliseconds: for those that hang. */
const patience = 120_000

/**
 * A server and a browser for the tests of a file.
 *
 * @param {{env?: Record<string, string> | (() => Promise<Record<string, string>>), args?: string[]}} [options]
 *   the server's configuration, or what gives it before the start; the browser's arguments
 * @returns {{test: (name: string, run: (scene: Scene) => Promise<void>, options?: import('node:test').TestOptions) => void}}
 *
 * @typedef {object} Scene
 * @property {Server} server
 * @property {import('playwright-core').Browser} browser
 * @property {(options?: object) => Promise<Visitor>} visitor  opens a context: {as: person}, and what playwright takes
 * @property {(displayName?: string) => Promise<Person>} facilitator  somebody who has logged in
 * @property {(codelab: {id: string}, name: string, code?: string) => Promise<Person>} person  somebody who has registered
 * @property {(text: string) => void} note  tells a figure in the test's output
 */
export function stage({ env, args } = {}) {
  const server = new Server()
  let browser
  before(async () => {
    server.configure(typeof env === 'function' ? await env() : env)
    await server.start()
    browser = await openBrowser(args)
  })
  after(async () => {
    await browser?.close()
    await server.remove()
  })
  const test = (name, run, options = {}) =>
    nodeTest(name, { timeout: patience, ...options }, async (context) => {
      const visitors = []
      const scene = {
        server,
        browser,
        visitor: async (options) => {
          const visitor = await Visitor.open(browser, server, options)
          visitors.push(visitor)
          return visitor
        },
        facilitator: (displayName) => new Person(server).login(displayName),
        note: (text) => context.diagnostic(text),
        person: (codelab, who, code) => new Person(server).register(codelab, who, code),
      }
      try {
        await run(scene)
        for (const visitor of visitors) visitor.check()
      } catch (error) {
        await keep(name, visitors, server).catch((why) => console.error('nothing kept:', why))
        throw error
      } finally {
        for (const { context } of visitors) await context.close()
      }
    })
  return { test }
}

/** Writes what each page shows, what went wrong in it, and the server's log. */
async function keep(name, visitors, server) {
  const base = name
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
