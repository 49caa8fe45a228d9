// A rehearsal: the sample workshop in one press, and simulated people who come and go.
import assert from 'node:assert/strict'
import { sound, stage, until } from './harness/stage.mjs'

const { test } = stage()

const wide = { viewport: { width: 1440, height: 900 } }

test('the sample workshop opens with one press, and its people are removed after the rehearsal', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const { page } = await visitor({ as: lead, ...wide })
  await page.goto('/admin')
  await page.getByRole('button', { name: 'Open the sample workshop' }).first().click()
  await page.getByRole('heading', { name: 'Sample: A tea timer in one page' }).waitFor()
  await page.waitForURL((url) => /^\/admin\/[0-9a-f-]{36}$/.test(url.pathname))
  const id = new URL(page.url()).pathname.split('/').at(-1)
  await page.getByText(/Rehearsal, \d+ min left/).waitFor()
  const somebody = page.locator('[data-person]').first()
  await somebody.waitFor()
  assert.match(await somebody.getAttribute('title'), /simulated/)
  await somebody.click()
  const [one] = await lead.get(`/codelabs/${id}/attendees`)
  assert.equal(one.simulated, true)
  await page.locator('aside').getByText('simulated', { exact: true }).waitFor()
  await sound(page, 'rehearsal')
  await page.keyboard.press('Escape')

  await page.getByRole('banner').getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Stop the rehearsal' }).click()
  await page.getByText('The rehearsal has ended').first().waitFor()
  await until('the floor to be empty', async () => (await page.locator('[data-person]').count()) === 0)
  assert.deepEqual(await lead.get(`/codelabs/${id}/attendees`), [])

  // Another rehearsal is started from the list of preparations.
  await page.getByRole('main').getByRole('button', { name: 'Rehearse' }).click()
  const dialog = page.getByRole('dialog', { name: 'Rehearse' })
  await dialog.getByLabel('People').fill('61')
  assert.equal(await dialog.getByRole('button', { name: 'Start' }).isDisabled(), true)
  await dialog.getByLabel('People').fill('3')
  await dialog.getByLabel('Minutes').fill('5')
  await sound(page, 'rehearse')
  await dialog.getByRole('button', { name: 'Start' }).click()
  await page.getByText(/Rehearsal, [1-5] min left/).waitFor()
  await page.locator('[data-person]').first().waitFor()
  await lead.delete(`/codelabs/${id}`)
})
