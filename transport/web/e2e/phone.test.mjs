// What is otherwise on a phone.
import assert from 'node:assert/strict'
import { stage, until } from './harness/stage.mjs'

const { test } = stage()
const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }

test('Back closes what is open over the page, and only then leaves it', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann, ...phone })
  const at = () => new URL(page.url()).pathname
  const dialog = page.getByRole('dialog')
  const gone = (what) => what.waitFor({ state: 'detached' })
  const depth = (n) => page.waitForFunction((n) => (history.state?.over ?? 0) === n, n)

  await page.goto('/')
  await page.getByRole('heading', { name: 'Join a workshop' }).waitFor()
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('heading', { name: 'One' }).waitFor()
  const below = page.getByRole('navigation', { name: 'Steps, chat and help' })

  // A drawer, and Forward opens nothing again.
  await below.getByRole('button', { name: 'Steps' }).click()
  await dialog.waitFor()
  await depth(1)
  await page.goBack()
  await gone(dialog)
  assert.equal(at(), `/codelabs/${lab.id}`)
  await page.evaluate(() => history.forward())
  await depth(0)
  assert.equal(await dialog.count(), 0)

  // A panel, and a dialog over it.
  await below.getByRole('button', { name: 'Chat' }).click()
  const panel = page.getByRole('complementary', { name: 'Chat, comments, files' })
  await panel.getByRole('button', { name: 'Everybody' }).waitFor()
  await depth(1)
  await panel.getByRole('tab', { name: 'Files' }).focus()
  await page.keyboard.press('?')
  await dialog.waitFor()
  await depth(2)
  await page.goBack()
  await gone(dialog)
  await page.goBack()
  await gone(panel)
  await depth(0)

  // Closed by what is chosen in it, it leaves nothing to go back to.
  await below.getByRole('button', { name: 'Steps' }).click()
  await depth(1)
  await dialog.getByRole('link', { name: 'Two' }).click()
  await page.getByRole('heading', { name: 'Two' }).waitFor()
  await depth(0)
  assert.equal(new URL(page.url()).search, '')

  // A page that is loaded anew with something open.
  await below.getByRole('button', { name: 'Help' }).click()
  await dialog.waitFor()
  await depth(1)
  await page.reload()
  await page.getByRole('heading', { name: 'Two' }).waitFor()
  await depth(0)
  assert.equal(await dialog.count(), 0)
  await page.goBack()
  await page.getByRole('heading', { name: 'Join a workshop' }).waitFor()

  // The facilitator's side and a person's dialog, one after the other.
  const boss = await visitor({ as: lead, ...phone })
  await boss.page.goto(`/admin/${lab.id}`)
  await boss.page.getByRole('button', { name: /^Attendee 1/ }).first().click()
  await boss.page.getByRole('dialog').waitFor()
  await boss.page.getByRole('button', { name: 'Write', exact: true }).click()
  await gone(boss.page.getByRole('dialog'))
  const side = boss.page.getByRole('button', { name: 'Help and chat', expanded: true })
  await side.waitFor()
  await boss.page.waitForFunction(() => history.state?.over === 1)
  await boss.page.goBack()
  await gone(side)
  assert.equal(new URL(boss.page.url()).pathname, `/admin/${lab.id}`)
  assert.equal(await until('the entry is gone', () => boss.page.evaluate(() => (history.state?.over ?? 0) === 0)), true)
})
