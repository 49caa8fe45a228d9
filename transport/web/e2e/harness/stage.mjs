import { after, test as nodeTest } from 'node:test'
import { inFirefox, openBrowser, Visitor } from './browser.mjs'
import { everything, keep, recordTime } from './out.mjs'
import { Person } from './people.mjs'
import { Server } from './server.mjs'

export { until } from './until.mjs'
export { accessible, barriers, onPaper, sound, turn } from './accessibility.mjs'
export { inFirefox, offline, still } from './browser.mjs'
export { saved } from './saved.mjs'
export { Person, Refused } from './people.mjs'
export { section } from './settings.mjs'

/**
 * The time limit for a story, in milliseconds. It only ends hanging stories, so it is long enough
 * for a busy machine.
 */
const patience = 1_200_000

/**
 * A server and a browser for a file's stories. Both start with the first story that runs, so that a
 * file with only skipped stories starts neither.
 *
 * @param {{env?: Record<string, string> | (() => Promise<Record<string, string>>), args?: string[], hosts?: string[]}} [options]
 *   the server's settings, or a function that returns them before the start; further arguments for
 *   Chromium, and host names of this machine
 * @returns {{test: Story, long: Story}}  test always runs; long is skipped unless LONG_TESTS=1
 *
 * @typedef {(name: string, run: (scene: Scene) => Promise<void>, options?: import('node:test').TestOptions & {chromium?: string}) => void} Story
 *   chromium is the reason why a story runs only in Chromium
 *
 * @typedef {object} Scene
 * @property {Server} server
 * @property {import('playwright-core').Browser} browser
 * @property {(options?: object) => Promise<Visitor>} visitor
 *   opens a browser context; the options are {as: person} and Playwright's options for contexts
 * @property {(displayName?: string) => Promise<Person>} facilitator  logs in as the owner
 * @property {(codelab: {id: string}, name: string, code?: string) => Promise<Person>} person
 *   registers an attendee
 * @property {(text: string) => void} note  writes a figure to the test's output
 */
export function stage({ env, args, hosts } = {}) {
  const server = new Server()
  let browser
  let opened
  const open = async () => {
    server.configure(typeof env === 'function' ? await env() : env)
    const [started, launched] = await Promise.allSettled([server.start(), openBrowser({ args, hosts })])
    browser = launched.value
    for (const { reason } of [started, launched]) if (reason) throw reason
  }
  after(async () => {
    await opened?.catch(() => {}) // the first story has reported the error
    await browser?.close()
    await server.remove()
    if (opened) await recordTime()
  })
  const test = (name, run, { chromium, ...options } = {}) =>
    nodeTest(name, { timeout: patience, ...(chromium && inFirefox ? { skip: `only in Chromium: ${chromium}` } : {}), ...options }, async (context) => {
      await (opened ??= open())
      // Content processes of Firefox 153 sometimes crash while a context closes. If this has ended
      // the browser, the next story starts another one.
      if (!browser.isConnected()) browser = await openBrowser({ args, hosts })
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
        await keep(name, visitors, server).catch((why) => console.error('the pages were not kept:', why))
        throw error
      } finally {
        for (const { context } of visitors) await context.close().catch((why) => inFirefox || Promise.reject(why))
      }
    })
  const long = (name, run, options = {}) => test(name, run, { ...(everything ? {} : { skip: 'LONG_TESTS=1 runs it' }), ...options })
  return { test, long }
}
