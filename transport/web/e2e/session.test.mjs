// The end of a session in a browser. No data of a person stays for the next person.
import assert from 'node:assert/strict'
import { inFirefox, stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()

const kept = (page) =>
  page.evaluate(async () => ({
    local: Object.keys(localStorage).sort(),
    session: Object.keys(sessionStorage).filter((key) => key !== 'atelier:reloaded'), // this value is a time, and belongs to the tab
    databases:
      (await indexedDB.databases()).length === 0
        ? 0
        : await new Promise((done) => {
            const open = indexedDB.open('keyval-store')
            open.onsuccess = () => {
              if (!open.result.objectStoreNames.contains('keyval')) return done(0)
              const all = open.result.transaction('keyval').objectStore('keyval').getAllKeys()
              all.onsuccess = () => done(all.result.length)
            }
            open.onerror = () => done(-1)
          }),
  }))

test('signing out removes all personal data from the browser', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor()
  guest.expect(/40[139]/, /WebSocket/, ...(inFirefox ? [/Unable to preload CSS/] : [])) // errors of the page that is being left
  const { page } = guest
  await page.goto(`/j/${lab.join_code}`)
  await page.evaluate(() => {
    localStorage.setItem('atelier:theme', 'dark')
    localStorage.setItem('atelier:language', 'en') // language and theme belong to the device and stay
  })
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.getByRole('button', { name: 'Join', exact: true }).click()
  await page.getByLabel('Write to everybody').fill('only begun')
  const other = await guest.context.newPage()
  await other.goto(`/codelabs/${lab.id}`)
  await other.getByLabel('Write to everybody').waitFor()

  const asked = []
  page.on('dialog', (d) => {
    asked.push(d.message())
    void (asked.length > 1 ? d.accept() : d.dismiss())
  })
  await page.getByRole('button', { name: 'Appearance and language' }).click()
  await page.getByRole('menuitem', { name: /erase my data/ }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Write your code down:').waitFor()
  const code = (await dialog.locator('strong').textContent()) ?? ''
  assert.match(code, /^[a-z2-9]{4}( [a-z2-9]{4}){3}$/)
  await dialog.getByRole('button', { name: 'Sign out on this device' }).click()
  await until('the question before the sign-out', () => asked.length === 1)
  assert.match(asked[0], /not been sent/)
  await page.getByLabel('Write to everybody').waitFor({ state: 'attached' }) // the dialog was dismissed, so nothing has changed
  await dialog.getByRole('button', { name: 'Sign out on this device' }).click()
  await page.waitForURL((u) => u.pathname === '/')
  await other.waitForURL((u) => u.pathname === '/')
  for (const p of [page, other]) {
    assert.deepEqual(await kept(p), { local: ['atelier:language', 'atelier:theme'], session: [], databases: 0 })
  }

  // The name alone is no longer enough. With the code, a person returns as the same attendee.
  await page.goto(`/codelabs/${lab.id}`)
  assert.equal(await page.getByLabel('Your name').inputValue(), '')
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.getByRole('button', { name: 'Join', exact: true }).click()
  await page.getByLabel(/Own code/).fill(code.toUpperCase())
  await page.getByRole('button', { name: 'Join', exact: true }).click()
  await page.getByLabel('Write to everybody').waitFor()
  assert.equal(await page.getByLabel('Write to everybody').inputValue(), '')
  assert.equal((await lead.get(`/codelabs/${lab.id}/attendees`)).length, 1)
})

long('after a sign-out, Back shows no data of the facilitator', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  await lead.codelab({ title: 'Secret title' })
  const boss = await visitor({ as: lead })
  boss.expect(/40[13]/)
  const { page } = boss
  await page.goto('/admin')
  await page.getByText('Secret title').first().waitFor()
  const other = await boss.context.newPage()
  await other.goto('/admin/audit-logs')
  await other.getByRole('list', { name: 'Records' }).getByText('Codelab created').first().waitFor()
  await page.goto('/admin/audit-logs')
  await page.getByRole('list', { name: 'Records' }).getByText('Codelab created').first().waitFor()
  await page.getByRole('button', { name: 'Appearance and language' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.waitForURL('**/login')
  await other.waitForURL((u) => u.pathname === '/')
  for (let i = 0; i < 2; i++) {
    await page.goBack().catch(() => {})
    await still(page)
    assert.equal(await page.getByRole('list', { name: 'Records' }).getByText('Codelab created').count(), 0)
    assert.equal(await page.getByText('Secret title').count(), 0)
  }
})
