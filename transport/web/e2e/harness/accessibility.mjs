// Accessibility barriers found by axe, in both themes.
import assert from 'node:assert/strict'
import { inFirefox } from './browser.mjs'
import { ofTheApp } from './ofTheApp.mjs'

/**
 * The serious and critical axe findings on the current page, one text each, for all rules or only
 * the colour rules.
 */
async function findings(page, colours) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(ofTheApp('axe-core').source)
  return page.evaluate(
    async (runOnly) => {
      window.axe.teardown() // axe keeps the colours of the previous run
      const { violations } = await window.axe.run(document, { resultTypes: ['violations'], ...(runOnly && { runOnly }) })
      const grave = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
      return grave.map(
        (v) => `${v.id}: ${v.help}\n    ${v.nodes.map((n) => `${n.html.slice(0, 160)} ${n.failureSummary?.split('\n')[1] ?? ''}`).join('\n    ')}`,
      )
    },
    colours && { type: 'rule', values: ['color-contrast', 'link-in-text-block'] },
  )
}

/**
 * Switches a page to light or dark. Waits until the page has applied the scheme, because the page
 * is notified only after the switch.
 */
export async function turn(page, colorScheme) {
  if (inFirefox) return // see firefox.mjs
  await page.emulateMedia({ colorScheme })
  await page.waitForFunction((scheme) => document.documentElement.dataset.theme === scheme, colorScheme)
}

/** Calls look while a page has its print style. In Firefox, which cannot do this, does nothing. */
export async function onPaper(page, look) {
  if (inFirefox) return
  await page.emulateMedia({ media: 'print' })
  await look()
  await page.emulateMedia({ media: 'screen' })
}

/**
 * The axe findings in light and dark, as texts. Rules that do not depend on colours have the same
 * findings in both and run once: axe takes a fifth of the time of these tests.
 *
 * @param {(colorScheme: string) => Promise<unknown>} [then] called while the page has this scheme
 */
export async function barriers(page, then) {
  // The findings are the same in both browsers, and axe crashes content processes of Firefox 153.
  if (inFirefox) return []
  const found = []
  await page.emulateMedia({ reducedMotion: 'reduce' })
  for (const colorScheme of ['light', 'dark']) {
    await turn(page, colorScheme)
    // With reduced motion the colours change by a transition without duration. It still takes a
    // frame, which is late on a busy machine.
    await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'))
    for (const f of await findings(page, colorScheme === 'dark')) found.push(`${colorScheme}: ${f}`)
    await then?.(colorScheme)
  }
  await turn(page, 'light')
  await page.emulateMedia({ reducedMotion: null })
  return found
}

/** Throws if axe finds a serious problem, in light or dark. */
export async function accessible(page, name) {
  assert.deepEqual(await barriers(page), [], name)
}

/** An optional folder for pictures. */
const shots = process.env.SHOTS

/** Like barriers, and optionally saves pictures of both themes and of a phone. */
export async function sound(page, name) {
  const found = await barriers(page, shots && ((colorScheme) => page.screenshot({ path: `${shots}/${name}-${colorScheme}.png` })))
  assert.deepEqual(found, [], name)
  if (!shots) return
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.screenshot({ path: `${shots}/${name}-phone.png` })
  await page.setViewportSize(size)
}
