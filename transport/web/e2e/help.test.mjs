// The handbook: context links, search, offline reading and printing.
import assert from 'node:assert/strict'
import { Network } from './harness/network.mjs'
import { offline, onPaper, stage, until } from './harness/stage.mjs'

const { test, long } = stage()

test('the handbook explains the current screen, and its search finds a section', async ({ facilitator, visitor }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Go', steps: ['# One'] })
  const boss = await visitor({ as: lead })
  boss.expect(/404/) // it has no code yet
  const { page } = boss
  await page.goto(`/admin/${lab.id}/code`)
  await page.getByRole('button', { name: 'Appearance and language' }).click()
  await page.getByRole('menuitem', { name: 'Handbook' }).click()
  await page.waitForURL('**/help/writing#the-code')
  await page.getByRole('heading', { name: 'The code', exact: true }).waitFor()
  await until('the section to have the focus', () => page.getByRole('heading', { name: 'The code', exact: true }).evaluate((h) => h === document.activeElement))
  await page.getByRole('searchbox', { name: 'Search the handbook' }).fill('restore backup')
  await page
    .getByRole('status')
    .getByRole('link', { name: /Backup and restore/ })
    .click()
  await page.waitForURL('**/help/operations#backup-and-restore')
  await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor()
  await page.getByRole('searchbox', { name: 'Search the handbook' }).fill('qqqqzzzz')
  await page.getByText('No section has these words.').waitFor()
  const lines = await page.getByRole('cell', { name: 'Metrics, profiles', exact: true }).evaluate(({ firstChild: text }) =>
    [...text.data.matchAll(/\p{L}+/gu)].map(({ index, 0: word }) => {
      const range = document.createRange()
      range.setStart(text, index)
      range.setEnd(text, index + word.length)
      return range.getClientRects().length
    }),
  )
  assert.deepEqual(lines, [1, 1], 'a word in a table is broken')
  // A link between pages stays in the app.
  await page.goto('/help/operations')
  await page.evaluate(() => (window.same = true))
  await page.locator('p').getByRole('link', { name: 'Tomorrow' }).click()
  await page.waitForURL('**/help/tomorrow')
  await page.getByRole('heading', { level: 1, name: /^Tomorrow/ }).waitFor()
  assert.equal(await page.evaluate(() => window.same), true, 'the app was reloaded')
  await page.goto('/help/nothing')
  await page.getByText('Page not found').waitFor()
})

test('on a phone the search is above the page, and words in tables are not broken', async ({ visitor }) => {
  const { page } = await visitor({ viewport: { width: 375, height: 700 } })
  await page.goto('/help/operations')
  await page.getByRole('heading', { name: 'Trouble' }).waitFor()
  const box = await page.getByRole('searchbox', { name: 'Search the handbook' }).boundingBox()
  assert.ok(box && box.y + box.height < 700, `the search is at ${JSON.stringify(box)}, want it within 700 pixels`)
  const broken = await page.locator('main :is(td, th)').evaluateAll((cells) =>
    cells.flatMap((cell) => {
      const out = []
      const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT)
      for (let text; (text = texts.nextNode());) {
        if (text.parentElement.closest('code')) continue
        for (const { index, 0: word } of text.data.matchAll(/\p{L}+/gu)) {
          const range = document.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          if (range.getClientRects().length > 1) out.push(word)
        }
      }
      return out
    }),
  )
  assert.deepEqual(broken, [], 'words in tables are broken')
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth), 0, 'the page is wider than the phone')
  await page.getByRole('searchbox', { name: 'Search the handbook' }).fill('livez')
  await page
    .getByRole('status')
    .getByRole('link', { name: /Monitoring/ })
    .click()
  await page.waitForURL('**/help/operations#monitoring')
  await until('the section to show', () => page.getByRole('heading', { name: 'Monitoring' }).evaluate((h) => Math.abs(h.getBoundingClientRect().top) < 100))
})

long('an opened page of the handbook is available without a network, and is printed without controls', async ({ server, visitor }) => {
  const network = await Network.before(server)
  try {
    const ann = await visitor({
      baseURL: network.url,
      serviceWorkers: 'allow',
    })
    ann.expect(offline, /ERR_(INTERNET_DISCONNECTED|FAILED|ABORTED)/)
    const { page } = ann
    await page.goto('/help/attending')
    await page.getByRole('heading', { level: 1, name: 'In a workshop' }).waitFor()
    await page.evaluate(() => navigator.serviceWorker.ready)
    await until('the worker to control the page', () => page.evaluate(() => navigator.serviceWorker.controller !== null))
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'In a workshop' }).waitFor()
    await onPaper(page, async () => {
      assert.equal(await page.getByRole('searchbox').isVisible(), false)
      assert.equal(await page.getByRole('banner').isVisible(), false)
      assert.equal(await page.getByRole('heading', { name: 'Get help' }).isVisible(), true)
    })
    await page.context().setOffline(true)
    await page.reload()
    await page.getByRole('heading', { name: 'Get help' }).waitFor()
  } finally {
    await network.remove()
  }
})

long('in another language the handbook shows that it is in English, and works with the keyboard', async ({ visitor }) => {
  const { page } = await visitor({ locale: 'de-DE' })
  await page.goto('/help/attending')
  await page.getByText('Diese Seite ist auf Englisch.').waitFor()
  await page.getByRole('searchbox', { name: 'Im Handbuch suchen' }).focus()
  await page.keyboard.type('erase me')
  await page.getByRole('status').getByRole('link').first().waitFor()
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.waitForURL('**/help/*#*')
})
