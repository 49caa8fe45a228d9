import { existsSync } from 'node:fs'
import { adapt, leaving, openFirefox, untouched } from './firefox.mjs'
import { ofTheApp } from './ofTheApp.mjs'
import { until } from './until.mjs'

/** Whether the stories run in Firefox (BROWSER=firefox). */
export const inFirefox = process.env.BROWSER === 'firefox'

/** The browser's executable: CHROMIUM, or its path in distributions. */
export function findBrowser() {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome', '/usr/bin/google-chrome-stable']
  const found = process.env.CHROMIUM || places.find(existsSync)
  if (!found) throw new Error('there is no Chromium; set CHROMIUM to the path of its program')
  return found
}

/**
 * Features of the browser that are off. The first line is for the address bar, which loads two
 * suggestion pages with each window. They took two thirds of the CPU time of opening a page. This
 * list replaces Playwright's list (chromiumSwitches), whose features therefore follow.
 */
const off = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup', 'WebUIOmniboxFullPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades', 'HttpsFirstBalancedModeAutoEnable'],
  ...['LensOverlay', 'MediaRouter', 'PaintHolding', 'ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect'],
  ...['OptimizationHints', 'NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch', 'LocalNetworkAccessChecks'],
]

/**
 * Starts the browser, Chromium unless the stories run in Firefox. It can reach only this machine.
 * A look-up of any other host name fails at once, without a DNS server that may not respond. Names
 * in .local are allowed, because browsers use them to connect for a shared screen.
 *
 * @param {{args?: string[], hosts?: string[]}} [options]
 *   further arguments for Chromium, and host names of this machine
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

/** The errors of a browser while the server is unreachable. */
export const offline =
  /ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|SOCKET_NOT_CONNECTED|CONNECTION_CLOSED|INCOMPLETE_CHUNKED_ENCODING|NETWORK_CHANGED)|WebSocket connection to .* failed|Firefox can’t establish a connection|connection to .* was interrupted/

/**
 * The longest wait for a page state, in milliseconds. It only ends tests that hang, so it is long
 * enough for a busy machine.
 */
const patience = 60_000

/** Each page's requests without a response, and the number of started requests. */
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
 * Waits until a visitor's page is idle: all its requests are answered, the responses are drawn, and
 * no new request starts.
 */
export async function still(page) {
  const asked = requests.get(page)
  for (let times = 0; times < 2;) {
    await until('all requests to be answered', () => asked.open.size === 0, patience)
    const { begun } = asked
    await page.waitForFunction(() => document.readyState === 'complete' && !document.querySelector('.shape'))
    // After two frames, the code in the responses has run and its result is drawn. (An idle
    // callback can be ten seconds late.)
    await page.evaluate(async () => {
      for (let frames = 0; frames < 2; frames++) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)))
    })
    times = asked.begun === begun ? times + 1 : 0
  }
}

/** One person's browser context, which records problems. */
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
    // The app's service worker downloads as much as a page, so it is allowed only in tests of it.
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

  /** Announces problems that the test expects. */
  expect(...patterns) {
    this.#expected.push(...patterns)
  }

  /** Throws if there was an unexpected problem. */
  check() {
    const bad = this.problems.filter((text) => !this.#expected.some((pattern) => pattern.test(text)))
    if (bad.length) throw new Error(`the browser reported unexpected problems:\n${bad.join('\n')}`)
  }
}
