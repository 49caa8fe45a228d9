import { setTimeout as pause } from 'node:timers/promises'

/** The limits of a reader's first load. */
export const firstLoad = {
  /** Compressed JavaScript and CSS, in bytes. */
  bytes: 150_000,
  /** Requests of any kind. */
  requests: 30,
  /**
   * The time from the start of the navigation until the text is readable, with a four times slower
   * CPU, in milliseconds.
   */
  readable: 1000,
}

/**
 * Opens a codelab in a browser without any cached data, and returns the cost.
 *
 * @param {import('./browser.mjs').Visitor} visitor  registered, with an empty cache
 * @param {{id: string}} codelab
 * @param {string} text  of the first step
 * @param {{slowed?: number}} [options]  the factor by which the processor is slowed
 * @returns {Promise<{bytes: number, requests: number, nodes: number, readable: number, largest: string[], asked: string[]}>}
 */
export async function measureFirstLoad({ context, page }, codelab, text, { slowed = 1 } = {}) {
  // A new window also loads pages of the browser itself. The pause lets them finish.
  if (slowed > 1) {
    await pause(2000)
    const cdp = await context.newCDPSession(page) // only in Chromium
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowed })
  }
  await page.addInitScript((text) => {
    const look = () => {
      if (window.readableAt !== undefined || !document.body?.innerText.includes(text)) return
      // The text must be drawn, not only present.
      requestAnimationFrame(() => setTimeout(() => (window.readableAt ??= performance.now())))
    }
    new MutationObserver(look).observe(document, { childList: true, subtree: true, characterData: true })
  }, text)
  const answers = []
  page.on('response', (answer) => answers.push(answer))
  await page.goto(`/codelabs/${codelab.id}`)
  await page.waitForFunction(() => window.readableAt !== undefined)
  await page.waitForLoadState('networkidle')
  const sizes = []
  for (const answer of answers) {
    if (!/javascript|css/.test(answer.headers()['content-type'] ?? '')) continue
    await answer.finished()
    sizes.push([(await answer.request().sizes()).responseBodySize, new URL(answer.url()).pathname])
  }
  sizes.sort(([a], [b]) => b - a)
  return {
    bytes: sizes.reduce((sum, [bytes]) => sum + bytes, 0),
    requests: answers.length,
    asked: answers.map((answer) => new URL(answer.url()).pathname),
    nodes: await page.evaluate(() => document.querySelectorAll('*').length),
    readable: await page.evaluate(() => window.readableAt),
    largest: sizes.slice(0, 8).map(([bytes, path]) => `${(bytes / 1000).toFixed(1).padStart(6)} kB  ${path}`),
  }
}
