// Whoever writes codelabs: the list, the editor, settings, quiz, files, and the
// code of the steps.
import assert from 'node:assert/strict'
import { axeSource, stage, until } from './harness/stage.mjs'

const { test } = stage()

/** A folder for pictures of each screen, when one wants to look at them. */
const shots = process.env.SHOTS

/** No serious finding of axe, light and dark; pictures of both, and of a phone, when they are wanted. */
async function sound(page, name) {
  const size = page.viewportSize()
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    await page.waitForFunction((scheme) => document.documentElement.dataset.theme === scheme, colorScheme)
    await page.evaluate(axeSource())
    const found = await page.evaluate(async () => {
      const { violations } = await window.axe.run(document, { resultTypes: ['violations'] })
      return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical').map((v) => `${v.id}: ${v.nodes.map((n) => n.target.flat().join(' ') + ' ' + n.failureSummary).join('\n')}`)
    })
    assert.deepEqual(found, [], `${name}, ${colorScheme}`)
    if (shots) {
      await page.screenshot({ path: `${shots}/${name}-${colorScheme}.png` })
      if (colorScheme === 'light') {
        await page.setViewportSize({ width: 390, height: 800 })
        await page.screenshot({ path: `${shots}/${name}-phone.png` })
        await page.setViewportSize(size)
      }
    }
  }
  await page.emulateMedia({ colorScheme: 'light', reducedMotion: null })
  await page.setViewportSize({ width: 320, height: 640 })
  await page.waitForFunction(() => innerWidth === 320)
  const wide = await page.evaluate(() => document.documentElement.scrollWidth)
  assert.ok(wide <= 320, `${name} is ${wide} wide on a screen of 320`)
  await page.setViewportSize(size)
}

const wide = { viewport: { width: 1440, height: 860 } }

const claat = `id: greet
summary: A first tutorial
author: Attendee 1

# Greet the world

## Set up
Duration: 5

Install it.

## Say hello
Duration: 10

Type \`hello\`.

![A picture](missing.png)
`

test('the list begins with what to do first, and takes a file', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const browser = await visitor({ as: lead, ...wide })
  const { page } = browser
  await page.goto('/admin')
  await page.getByText('No codelab yet').waitFor()
  await sound(page, 'labs-empty')

  const files = page.locator('input[type=file]')
  await files.setInputFiles({ name: 'greet.md', mimeType: 'text/markdown', buffer: Buffer.from(claat) })
  await page.getByRole('heading', { name: '“Greet the world” is imported: 2 steps.' }).waitFor()
  await page.getByText('missing.png').waitFor()
  const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Greet the world', exact: true }) })
  await row.getByText('nobody has joined').waitFor()
  await row.getByText('open', { exact: true }).waitFor()

  // A copy, which is then deleted with its title.
  await row.getByRole('button', { name: 'More for Greet the world' }).click()
  await page.getByRole('menuitem', { name: 'Copy' }).click()
  const copied = page.getByRole('listitem').filter({ hasText: 'Greet the world (Copy)' })
  await copied.waitFor()
  await copied.getByRole('button', { name: /^More for/ }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  const dialog = page.getByRole('dialog')
  const gone = dialog.getByRole('button', { name: 'Delete for good' })
  assert.ok(await gone.isDisabled())
  await dialog.getByLabel(/type the title/).fill('greet the world (copy)')
  await sound(page, 'labs-delete')
  await gone.click()
  await copied.waitFor({ state: 'detached' })

  // The export comes as a file, and can be imported again.
  await row.getByRole('button', { name: /^More for/ }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export as ZIP' }).click()])
  assert.match(download.suggestedFilename(), /\.zip$/)
  await files.setInputFiles(await download.path().then(async (path) => ({ name: 'again.zip', mimeType: 'application/zip', buffer: await (await import('node:fs/promises')).readFile(path) })))
  await until('both to be there', async () => (await page.getByRole('link', { name: 'Greet the world', exact: true }).count()) === 2)

  // With many there is a filter, and numbers come by themselves.
  for (let i = 1; i <= 8; i++) await lead.codelab({ title: `Workshop ${i}`, is_public: i % 2 === 0 })
  await page.getByRole('link', { name: 'Workshop 8', exact: true }).waitFor()
  await sound(page, 'labs')
  await page.getByLabel(/^Filter/).fill('workshop 3')
  await until('one to be left', async () => (await page.getByRole('button', { name: /^More for/ }).count()) === 1)

  // A file that is none says so.
  browser.expect(/400 \(Bad Request\).*import/)
  await files.setInputFiles({ name: 'bad.zip', mimeType: 'application/zip', buffer: Buffer.from('no archive') })
  await page.getByText(/This was not accepted/).waitFor()
})
