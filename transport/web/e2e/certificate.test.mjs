// The content and look of certificates, webhook deliveries, and the deletion date of a codelab.
import assert from 'node:assert/strict'
import { accessible, inFirefox, saved, stage, until } from './harness/stage.mjs'

const { test } = stage({ env: { ATELIER_RETENTION_CODELABS_DAYS: '30' } })

const steps = ['# One\n\nText.\n', '# Two\n\nText.\n', '# Three\n\nText.\n']
/** A picture of 8 x 8 pixels in one colour. */
const logo = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEUlEQVR42mOQj9+PFTEMLQkAz4pPQfofZ1wAAAAASUVORK5CYII=', 'base64')

/** The width and height of a PNG. */
const sizeOf = (png) => [png.readUInt32BE(16), png.readUInt32BE(20)]

test('a certificate shows the settings, prints on one page, and is available as a picture', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service', author: 'Lea', steps })
  const ann = await person(lab, 'Oluwaseun Adeyemi-Bankole')
  for (const step of [2, 3]) await ann.send('POST', `/codelabs/${lab.id}/messages`, { type: 'step_progress', step_number: step })
  await ann.send('POST', `/codelabs/${lab.id}/complete`)

  const office = await visitor({ as: lead })
  const { page } = office
  await page.goto(`/admin/${lab.id}/settings/certificate`)
  const part = page.getByRole('region', { name: 'Certificate and look' })
  await part.getByText('with the longest name in this room: Oluwaseun').waitFor()
  await part.getByLabel('Organiser').fill('Northern School')
  await part.locator('input[type=file]').setInputFiles({ name: 'logo.gif', mimeType: 'image/gif', buffer: logo })
  await part.getByRole('alert').waitFor()
  await part.locator('input[type=file]').setInputFiles({ name: 'logo.png', mimeType: 'image/png', buffer: logo })
  await part.getByRole('button', { name: 'Remove the logo' }).waitFor()
  await part.getByLabel('Violet').check()
  await part.getByLabel('Learning goals').fill('A service that closes cleanly.')
  await part.getByLabel('Hours').fill('1,3')
  await page.getByRole('button', { name: 'Save' }).click()
  await part.getByText('Enter a number from 0 to 1000 in steps of 0.5.').waitFor()
  await part.getByLabel('Hours').fill('1,5')
  await part.getByLabel('Show the person’s path through the steps').check()
  await part.locator('.a4').getByText('Northern School').waitFor()
  await accessible(page, 'settings')
  await page.getByRole('button', { name: 'Save' }).click()
  // "Saved" can refer to the previous save.
  await until('the certificate to show the saved settings', async () => {
    const said = await lead.get(`/certificates/${ann.id}`)
    assert.deepEqual([said.organiser, said.hours, said.accent, said.seal, said.shares?.length], ['Northern School', 1.5, 'violet', true, 3])
    return true
  })

  const guest = await visitor({ permissions: ['clipboard-write'] })
  const sheet = guest.page
  await sheet.goto(`/certificate/${ann.id}`)
  await sheet.getByRole('heading', { level: 1, name: 'A small service' }).waitFor()
  await sheet.getByText('3 steps, 1½ hours').waitFor()
  await sheet.getByRole('img', { name: /steps as arcs/ }).waitFor()
  await accessible(sheet, 'certificate')
  if (!inFirefox) {
    // WebDriver BiDi prints with its own paper size.
    const pdf = await sheet.pdf({ preferCSSPageSize: true, printBackground: true })
    assert.equal((pdf.toString('latin1').match(/\/Type\s*\/Page\b/g) ?? []).length, 1, 'the certificate is not printed on exactly one page')
    const [, , wide, high] = pdf
      .toString('latin1')
      .match(/\/MediaBox\s*\[([^\]]+)\]/)[1]
      .trim()
      .split(/\s+/)
      .map(Number)
    assert.ok(Math.abs(wide - 842) < 2 && Math.abs(high - 595) < 2, `the page is ${wide} x ${high}, want 842 x 595`)
  }
  const picture = await saved(sheet, () => sheet.getByRole('button', { name: 'Picture for posting' }).click())
  assert.deepEqual(sizeOf(picture), [1200, 630])
  await sheet.setViewportSize({ width: 375, height: 700 })
  await accessible(sheet, 'certificate on a phone')
  assert.ok(await sheet.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the certificate is wider than a phone')

  // After the end, all pages show when the codelab will be deleted.
  await lead.post(`/codelabs/${lab.id}/end`)
  await sheet.reload()
  await sheet.getByText(/can be checked until/).waitFor()
  await page.goto('/admin')
  await page.getByText(/will be deleted on/).waitFor()
  await page.goto(`/admin/${lab.id}/settings`)
  await page.getByText(/deletes the codelab on/).waitFor()
  await lead.post(`/codelabs/${lab.id}/end`, { ended: false })
  await sheet.reload()
  await sheet.getByRole('heading', { level: 1 }).waitFor()
  assert.equal(await sheet.getByText(/can be checked until/).count(), 0)
})

test('the owner creates a webhook, tests it, and sees the result', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const office = await visitor({ as: lead })
  const { page } = office
  await page.goto('/admin/settings/webhooks')
  const part = page.locator('#webhooks') // a locator by role that matches several elements crashes Firefox with WebDriver BiDi
  await part.getByText('No webhook').waitFor()
  await part.getByRole('button', { name: 'Add a webhook' }).click()
  const dialog = page.getByRole('dialog', { name: 'Add a webhook' })
  await dialog.getByRole('button', { name: 'Add and show the secret' }).click()
  await dialog.getByRole('alert').waitFor()
  await dialog.getByLabel('Address').fill('https://127.0.0.1:1/in')
  await dialog.getByLabel('somebody completes').check()
  await dialog.getByLabel('Of which codelabs').selectOption({ label: 'All, including new ones' })
  await accessible(page, 'a webhook is added')
  await dialog.getByRole('button', { name: 'Add and show the secret' }).click()
  await part.getByText(/^whsec_/).waitFor()
  await part.getByRole('button', { name: 'I have saved it' }).click()
  await part.getByText('Nothing was sent yet.').waitFor()
  await part.getByRole('button', { name: 'Test' }).click()
  await part.getByRole('row').filter({ hasText: '127.0.0.1:1/in' }).getByText('the address is in a private network').waitFor()
  await part.getByRole('button', { name: 'Details' }).click()
  await page.getByRole('dialog', { name: 'Details' }).getByText('the address is in a private network').waitFor()
  await page.keyboard.press('Escape')
  await accessible(page, 'webhooks')
  // On a phone the rows are cards. Nothing scrolls sideways, and each value has a label.
  for (const width of [375, 320]) {
    await page.setViewportSize({ width, height: 812 })
    const frames = part.locator('[role=region]:has(> table)')
    assert.deepEqual(await frames.evaluateAll((all) => all.map((e) => e.scrollWidth - e.clientWidth)), [0, 0], `tables scroll sideways at ${width} pixels`)
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth))
    const cells = await part
      .locator('tbody tr')
      .first()
      .locator('th, td')
      .evaluateAll((all) =>
        all.map((e) => ({
          top: Math.round(e.getBoundingClientRect().top),
          // Chromium returns the computed text, Firefox returns attr(data-label).
          label: getComputedStyle(e, '::before').content === 'none' ? null : e.dataset.label,
        })),
      )
    assert.equal(new Set(cells.map((c) => c.top)).size, 4, 'the cells of a card are not in four rows, with state and delivery side by side')
    assert.deepEqual(
      cells.map((c) => c.label).filter((l) => l !== null),
      ['Tell it when', 'State', 'Last delivery'],
    )
    await part.getByRole('row', { name: '127.0.0.1:1/in' }).getByRole('button', { name: 'Test' }).waitFor()
  }
  await accessible(page, 'webhooks on a phone')
  await page.setViewportSize({ width: 1280, height: 800 })
  await part.getByRole('button', { name: 'More: 127.0.0.1:1/in' }).click()
  await page.getByRole('menuitem', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await part.getByText('No webhook').waitFor()
})
