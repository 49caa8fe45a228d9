import { existsSync } from 'node:fs'
import { adapt, leaving, openFirefox, untouched } from './firefox.mjs'
import { ofTheApp } from './ofTheApp.mjs'
import { until } from './until.mjs'

/** The stories run in Firefox: BROWSER=firefox. */
export const inFirefox = process.env.BROWSER === 'firefox'

/** The browser's program: CHROMIUM, or where distributions put it. */
export function findBrowser() {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable']
  const found = process.env.CHROMIUM || places.find(existsSync)
  if (!found) throw new Error('there is no Chromium; CHROMIUM names its program')
  return found
}

/**
 * Features of the browser that are off. The first line is the address bar's: with each window it
 * loads two pages for suggestions, which took two thirds of the processor time of opening a page.
 * A list replaces Playwright's own (chromiumSwitches there), so that follows.
 */
const off = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable'],
  ...['LensOverlay', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch', 'LocalNetworkAccessChecks'],
]

/**
 * Starts the browser, Chromium unless the stories run in Firefox. It reaches this machine alone: names of others are unknown at once,
 * and not after a search in a network that may not answer. Those of .local are how browsers
 * find each other for a shared screen.
 *
 * @param {{args?: string[], hosts?: string[]}} [options]  further arguments of Chromium, and names that are this machine's
 */
export async function openBrowser({ args = [], hosts = [] } = {}) {
  if (inFirefox) return openFirefox()
  const names = [...hosts.map((host) => `MAP ${host} 127.0.0.1`), 'MAP * ~NOTFOUND', 'EXCLUDE 127.0.0.1', 'EXCLUDE *.local']
  return ofTheApp('playwright-core').chromium.launch({
    executablePath: findBrowser(),
    headless: !process.env.HEADED,
    args: [
      ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
      '--disable-dev-shm-usage',
      '--disable-gpu',
      `--disable-features=${off}`,
      `--host-resolver-rules=${names}`,
      ...args,
    ],
  })
}

/** The errors of a browser while the server is away. */
export const offline =
  /ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED|CONNECTION_CLOSED|INCOMPLETE_CHUNKED_ENCODING|NETWORK_CHANGED)|WebSocket connection to .* failed|Firefox can’t establish a connection|connection to .* was interrupted/

/** The longest wait for a state of a page, milliseconds. It only ends tests that hang, so it is long enough for a busy machine. */
const patience = 60_000

/** The requests of each page that have no answer yet, and how many have begun. */
const requests = new WeakMap()

function follow(page) {
  const asked = { open: new Set(), begun: 0 }
  requests.set(page, asked)
  page.on('request', (request) => {
    if (request.isNavigationRequest() && request.frame() === page.mainFrame()) asked.open.clear() // they end with their page
    asked.open.add(request)
    asked.begun++
  })
  for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => asked.open.delete(request))
}

/**
 * Waits until a page of a visitor is still: all its requests are answered, what they
 * brought is drawn, and it asks for nothing more.
 */
export async function still(page) {
  const asked = requests.get(page)
  for (let times = 0; times < 2;) {
    await until('all requests are answered', () => asked.open.size === 0, patience)
    const { begun } = asked
    await page.waitForFunction(() => document.readyState === 'complete' && !document.querySelector('.shape'))
    // After two frames, the code in the answers has run and its result is drawn. (An idle callback can come ten seconds later.)
    await page.evaluate(async () => {
      for (let frames = 0; frames < 2; frames++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    })
    times = asked.begun === begun ? times + 1 : 0
  }
}

/** A browser context of one person, that remembers what went wrong in it. */
export class Visitor {
  /** @type {import('playwright-core').BrowserContext} */
  context
  /** @type {import('playwright-core').Page} */
  page
  /** Console errors, uncaught errors and violations of the policy, as text. */
  problems = []
  #expected = inFirefox ? [leaving] : []

  /**
   * @param {import('playwright-core').Browser} browser
   * @param {{url: string}} server
   * @param {import('playwright-core').BrowserContextOptions & {as?: import('./people.mjs').Person}} [options]
   */
  static async open(browser, server, { as, ...options } = {}) {
    const visitor = new Visitor()
    // The app's service worker fetches as much again as a page: only where it is looked at.
    const context = await browser.newContext({ baseURL: server.url, locale: 'en-GB', serviceWorkers: 'block', ...options, ...(inFirefox && untouched) })
    visitor.context = context
    context.setDefaultTimeout(patience)
    context.on('page', follow)
    if (as) await context.addCookies(as.browserCookies()) // for every port of the host
    context.on('console', (message) => {
      const text = message.text()
      if (message.type() === 'error' || /permissions.policy/i.test(text)) {
        visitor.problems.push(`console: ${text} (${message.location().url})`)
      }
    })
    context.on('weberror', (error) => visitor.problems.push(`uncaught: ${error.error()?.stack ?? error.error()}`))
    if (options.javaScriptEnabled !== false) {
      await context.addInitScript(() => {
        document.addEventListener('securitypolicyviolation', (e) => {
          console.error(`violates ${e.effectiveDirective}: ${e.blockedURI} at ${e.sourceFile}:${e.lineNumber}`)
        })
      })
    }
    visitor.page = await context.newPage()
    if (inFirefox) adapt(visitor.page)
    return visitor
  }

  /** Announces problems that belong to the test. */
  expect(...patterns) {
    this.#expected.push(...patterns)
  }

  /** Throws when something went wrong that was not announced. */
  check() {
    const bad = this.problems.filter((text) => !this.#expected.some((pattern) => pattern.test(text)))
    if (bad.length) throw new Error(`the browser complains:\n${bad.join('\n')}`)
  }
}
