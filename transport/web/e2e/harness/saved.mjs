import { readFile } from 'node:fs/promises'
import { inFirefox } from './browser.mjs'

/**
 * Returns the content of the file that the page creates and downloads when press is called.
 *
 * @param {import('playwright-core').Page} page
 * @param {() => Promise<unknown>} press
 * @returns {Promise<Buffer>}
 */
export async function saved(page, press) {
  if (!inFirefox) {
    const [file] = await Promise.all([page.waitForEvent('download'), press()])
    return readFile(await file.path())
  }
  // WebDriver BiDi in Firefox 153 does not report downloads of content that the page has created.
  await page.evaluate(() => {
    window.saved = new Promise((resolve) => {
      const { createObjectURL } = URL
      URL.createObjectURL = (blob) => {
        URL.createObjectURL = createObjectURL
        resolve(blob.arrayBuffer())
        return createObjectURL(blob)
      }
    })
  })
  await press()
  return Buffer.from(await page.evaluate(async () => [...new Uint8Array(await window.saved)]))
}
