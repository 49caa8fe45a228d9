// What axe finds that keeps people out, and the two themes it looks in.
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
