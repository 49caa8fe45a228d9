import { setTimeout as pause } from 'node:timers/promises'

/** The limits of a reader's first load. */
export const firstLoad = {
  /** Compressed JavaScript and CSS, bytes. */
  bytes: 150_000,
  /** Requests, of whatever kind. */
  requests: 30,
  /** From the click until the text can be read, with the processor slowed four times, milliseconds. */
  readable: 1000,
}

/**
 * Opens a codelab as somebody whose browser has never been here, and says what
 * that took.
 *
 * @param {import('./browser.mjs').Visitor} visitor  registered, with an empty cache
 * @param {{id: string}} codelab
 * @param {string} text  of the first step
 * @param {{slowed?: number}} [options]  how many times the processor is slowed
 * @returns {Promise<{bytes: number, requests: number, nodes: number, readable: number, largest: string[], asked: string[]}>}
 */
export async function measureFirstLoad({ context, page }, codelab, text, { slowed = 1 } = {}) {
  // A window that has just been opened loads pages of the browser's own in addition to ours.
  if (slowed > 1) {
    await pause(2000)
    const cdp = await context.newCDPSession(page) // of Chromium
    await cdp.send('Emulation.setCPUThrottlingRate', { rate: slowed })
  }
  await page.addInitScript((text) => {
    const look = () => {
      if (window.readableAt !== undefined || !document.body?.innerText.includes(text)) return
      // Drawn, not only there.
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
