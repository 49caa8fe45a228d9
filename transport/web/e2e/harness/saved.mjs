import { readFile } from 'node:fs/promises'
import { inFirefox } from './browser.mjs'

/**
 * The content of the file that a page makes and saves when something is pressed.
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
  // WebDriver BiDi of Firefox 153 does not report the download of what a page has made.
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
