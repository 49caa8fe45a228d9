// What axe finds that keeps people out, and the two themes it looks in.
import assert from 'node:assert/strict'
import { ofTheApp } from './browser.mjs'

const axe = ofTheApp('axe-core').source

/** The serious and critical findings of axe on a page as it stands, a text each. */
export async function findings(page) {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
    const grave = violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
    return grave.map((v) => `${v.id}: ${v.help}\n    ${v.nodes.map((n) => `${n.html.slice(0, 160)} ${n.failureSummary?.split('\n')[1] ?? ''}`).join('\n    ')}`)
  })
}

/** Turns a page to light or dark, and returns when its colours are drawn so: it hears of the change later than this call. */
export async function turn(page, colorScheme) {
  await page.emulateMedia({ colorScheme })
  await page.waitForFunction((scheme) => document.documentElement.dataset.theme === scheme, colorScheme)
}

/** A folder for pictures, when one wants to look at them. */
const shots = process.env.SHOTS

/** Nothing serious for axe in light and dark; and pictures, of a phone too, when they are wanted. */
export async function sound(page, name) {
  for (const colorScheme of ['light', 'dark']) {
    await turn(page, colorScheme)
    assert.deepEqual(await findings(page), [], `${name}, ${colorScheme}`)
    if (shots) await page.screenshot({ path: `${shots}/${name}-${colorScheme}.png` })
  }
  await turn(page, 'light')
  if (!shots) return
  const size = page.viewportSize()
  await page.setViewportSize({ width: 390, height: 800 })
  await page.screenshot({ path: `${shots}/${name}-phone.png` })
  await page.setViewportSize(size)
}
