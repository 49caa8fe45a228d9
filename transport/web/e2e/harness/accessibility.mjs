// What axe finds that keeps people out, and the two themes it looks in.
import assert from 'node:assert/strict'
import { inFirefox } from './browser.mjs'
import { ofTheApp } from './ofTheApp.mjs'

/** The serious and critical findings of axe on a page as it stands, a text each; of all rules, or of those about colours. */
async function findings(page, colours) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(ofTheApp('axe-core').source)
  return page.evaluate(
    async (runOnly) => {
      window.axe.teardown() // it remembers the colours of the run before
      const { violations } = await window.axe.run(document, { resultTypes: ['violations'], ...(runOnly && { runOnly }) })
      const grave = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
      return grave.map(
        (v) => `${v.id}: ${v.help}\n    ${v.nodes.map((n) => `${n.html.slice(0, 160)} ${n.failureSummary?.split('\n')[1] ?? ''}`).join('\n    ')}`,
      )
    },
    colours && { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  )
}

/** Turns a page to light or dark, and returns when its colours are drawn so: it hears of the change later than this call. */
export async function turn(page, colorScheme) {
  if (inFirefox) return // see firefox.mjs
  await page.emulateMedia({ colorScheme })
  await page.waitForFunction((scheme) => document.documentElement.dataset.theme === scheme, colorScheme)
}

/** Looks at a page as it is printed, which Firefox is not told to show. */
export async function onPaper(page, look) {
  if (inFirefox) return
  await page.emulateMedia({ media: 'print' })
  await look()
  await page.emulateMedia({ media: 'screen' })
}

/**
 * The findings of axe in light and in dark, as texts. Rules that do not depend on colours
 * have the same findings in both and run once: axe takes a fifth of the time of these tests.
 *
 * @param {(colorScheme: string) => Promise<unknown>} [then] called while the page is so
 */
export async function barriers(page, then) {
  // What axe reads is the same in both browsers, and content processes of Firefox 153 crash under it.
  if (inFirefox) return []
  const found = []
  await page.emulateMedia({ reducedMotion: 'reduce' })
  for (const colorScheme of ['light', 'dark']) {
    await turn(page, colorScheme)
    // With reduced motion the colours change by a transition of no length. It still takes a
    // frame, which comes late on a busy machine.
    await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'))
    for (const f of await findings(page, colorScheme === 'dark')) found.push(`${colorScheme}: ${f}`)
    await then?.(colorScheme)
  }
  await turn(page, 'light')
  await page.emulateMedia({ reducedMotion: null })
  return found
}

/** Throws when axe finds something serious, in light or in dark. */
export async function accessible(page, name) {
  assert.deepEqual(await barriers(page), [], name)
}

/** A folder for pictures, when one wants to look at them. */
const shots = process.env.SHOTS

/** The same, and pictures of both, and of a phone, when they are wanted. */
export async function sound(page, name) {
  const found = await barriers(page, shots && ((colorScheme) => page.screenshot({ path: `${shots}/${name}-${colorScheme}.png` })))
  assert.deepEqual(found, [], name)
  if (!shots) return
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.screenshot({ path: `${shots}/${name}-phone.png` })
  await page.setViewportSize(size)
}
