// The timer. Everybody sees it, it follows the server's clock, it is announced, and it is large on
// the projector.
import assert from 'node:assert/strict'
import { Network } from './harness/network.mjs'
import { accessible, offline, stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const wide = { viewport: { width: 1440, height: 900 } }

/** The seconds that the visible timer of a page shows. */
async function seconds(page) {
  const text = await page.getByRole('timer').filter({ visible: true }).first().locator('.num').textContent()
  const [m, s] = text.split(':').map(Number)
  return m * 60 + s
}
/** The timer of a codelab on the server. */
const timerOf = async (lead, lab) => (await lead.get(`/codelabs/${lab.id}`))[0].timer
/** Waits until a page shows the remaining seconds, with a tolerance of two seconds. */
const right = async (page, lead, lab) => {
  const end = Date.parse((await timerOf(lead, lab)).ends_at)
  await until('the timer to show the right time', async () => Math.abs((end - Date.now()) / 1000 - (await seconds(page))) <= 2)
}
const heard = (page, text) => page.locator('[aria-live=polite]', { hasText: text }).waitFor({ state: 'attached' })

async function reader(visitor, person, lab, options = phone) {
  const guest = await visitor({ as: person, ...options })
  await guest.page.goto(`/codelabs/${lab.id}`)
  await guest.page.getByRole('heading', { name: 'One' }).waitFor()
  // Events before the connection are shown but not announced.
  await guest.page.getByText('● connected').first().waitFor({ state: 'attached' })
  return guest
}

test('a facilitator sets the timer, adds a minute and stops it; everybody sees it', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const { page } = await reader(visitor, ann, lab)
  await still(page)
  const heading = () => page.getByRole('heading', { name: 'One' }).evaluate((e) => e.getBoundingClientRect().top)
  const before = await heading()
  const boss = (await visitor({ as: lead, ...wide })).page
  await boss.goto(`/admin/${lab.id}`)
  await boss.getByRole('tab', { name: 'Timer' }).click()
  await accessible(boss)
  const bar = await boss.locator('main').evaluate((e) => e.getBoundingClientRect().top)
  await boss.getByLabel('Label').fill('Write the handler')
  await boss.getByRole('button', { name: '10 min', exact: true }).click()
  await page.getByRole('timer', { name: 'Timer: Write the handler' }).filter({ visible: true }).waitFor()
  await heard(page, 'Timer: Write the handler, 10 min.')
  assert.equal(await heading(), before, 'the text has moved')
  await boss.getByRole('button', { name: '+1 minute' }).waitFor()
  assert.equal(await boss.locator('main').evaluate((e) => e.getBoundingClientRect().top), bar, 'the live view has moved')
  assert.equal((await timerOf(lead, lab)).total_seconds, 600)
  await right(page, lead, lab)
  await accessible(page)
  await accessible(boss)

  await boss.getByRole('button', { name: '+1 minute' }).click()
  await until('one minute to be added', async () => (await timerOf(lead, lab)).total_seconds === 660)
  await right(page, lead, lab)
  const wall = (await visitor({ as: lead, viewport: { width: 1280, height: 720 } })).page
  await wall.goto(`/admin/${lab.id}/projector`)
  await wall.getByText('Write the handler').waitFor()
  await boss.getByRole('button', { name: 'Projector', exact: true }).click()
  const large = wall.locator('section[role=timer] .left')
  await large.waitFor()
  assert.ok((await large.boundingBox()).height > 200, 'the timer is not large')
  await right(wall, lead, lab)
  await accessible(wall)
  await boss.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByRole('timer').first().waitFor({ state: 'detached' })
  await wall.getByText('Scan, or open').waitFor()
})

long('the timer is right on a device whose clock is an hour off', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 600, label: '', kind: 'break' })
  for (const wrong of [3_600_000, -3_600_000]) {
    const guest = await visitor({ as: await person(lab, `Off by ${wrong}`), ...wide })
    await guest.context.addInitScript((by) => {
      const Real = Date
      globalThis.Date = class extends Real {
        constructor(...args) {
          super(...(args.length > 0 ? args : [Real.now() + by]))
        }
        static now() {
          return Real.now() + by
        }
      }
    }, wrong)
    await guest.page.goto(`/codelabs/${lab.id}`)
    await guest.page.getByText('● connected').waitFor()
    await right(guest.page, lead, lab)
  }
})

long('after a reload the timer is right, whatever the age of cached responses', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 600, label: '', kind: 'break' })
  const ann = await person(lab, 'Attendee 1')
  for (const [options, path] of [
    [{ as: ann, ...phone }, `/codelabs/${lab.id}`],
    [{ as: lead, ...phone }, `/admin/${lab.id}`],
    [{ as: lead, ...wide }, `/admin/${lab.id}/projector`],
  ]) {
    const { page } = await visitor(options)
    // The response that a page gets on a 304: an old record, with the current Date or the old one.
    const record = (url) => url.pathname === `/api/codelabs/${lab.id}`
    let hits = 0
    const aged = (headers) => async (route) => {
      const answer = await route.fetch()
      hits++
      const body = await answer.json()
      for (const record of Array.isArray(body) ? body : [body]) if (record.now) record.now = new Date(Date.parse(record.now) - 100_000).toISOString()
      await route.fulfill({ response: answer, headers: { ...answer.headers(), ...headers() }, json: body })
    }
    await page.addInitScript(() => {
      window.timers = []
      new MutationObserver(() => {
        for (const e of document.querySelectorAll('[role=timer] .num')) {
          const [m, s] = e.textContent.split(':').map(Number)
          const at = Date.now() + (m * 60 + s) * 1000
          if (at !== window.timers.at(-1)) window.timers.push(at)
        }
      }).observe(document, { childList: true, subtree: true, characterData: true })
    })
    for (const headers of [() => ({}), () => ({ date: new Date(Date.now() - 100_000).toUTCString() }), () => ({ age: '100' })]) {
      await page.route(record, aged(headers))
      await page.goto(path)
      await right(page, lead, lab)
      await still(page)
      await page.reload()
      await right(page, lead, lab)
      await still(page)
      // Every end that the page has shown since then is the timer's end.
      const end = Date.parse((await timerOf(lead, lab)).ends_at)
      const ends = await page.evaluate(() => window.timers)
      assert.ok(ends.length > 0 && hits > 0)
      for (const at of ends) assert.ok(Math.abs(at - end) < 10_000, `the timer was shown with an end ${(at - end) / 1000} s too late`)
      await page.unroute(record)
    }
  }
})

long('the timer does not restart when the network returns; the end is read out once', async ({ server, visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const network = await Network.before(server)
  const guest = await visitor({ as: ann, baseURL: network.url, ...wide })
  guest.context.on('close', () => void network.remove())
  guest.expect(offline)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByText('● connected').waitFor()
  await page.evaluate(() => {
    globalThis.said = []
    new MutationObserver(() => globalThis.said.push(document.querySelector('[aria-live=polite].unseen').textContent)).observe(
      document.querySelector('[aria-live=polite].unseen'),
      { childList: true, characterData: true, subtree: true },
    )
  })
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 66, label: 'Try it', kind: 'exercise' })
  await page.getByRole('timer').first().waitFor()
  await heard(page, '1 minute left.')
  const before = await seconds(page)
  network.cut()
  await page
    .getByText(/Connection lost|connecting/)
    .first()
    .waitFor()
  network.mend()
  await page.getByText('● connected').waitFor()
  assert.ok((await seconds(page)) <= before, 'the timer has restarted')
  // Below one minute, only the end is announced.
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 12, label: 'Try it', kind: 'exercise' })
  await page.getByRole('timer').filter({ hasText: 'time is up', visible: true }).waitFor()
  await heard(page, 'The time is up.')
  const said = await page.evaluate(() => globalThis.said)
  assert.equal(said.filter((t) => t.startsWith('1 minute left')).length, 1, said.join(' | '))
  assert.equal(said.filter((t) => t.startsWith('The time is up')).length, 1, said.join(' | '))
  await accessible(page)
  // A reload after the end causes no further announcement.
  await page.reload()
  await page.getByRole('timer').filter({ hasText: 'time is up', visible: true }).waitFor()
  assert.equal(await page.locator('[aria-live=polite].unseen').textContent(), '')
})

long('the end of a break notifies a person who looks elsewhere', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Ann'), ...wide })
  await guest.context.addInitScript(() => (document.hasFocus = () => false))
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByText('● connected').waitFor()
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 12, label: '', kind: 'break' })
  await page.waitForFunction(() => document.title.startsWith('(1) '))
  assert.equal(await page.locator('link[rel=icon]').getAttribute('href'), '/favicon-dot.svg')
})

long('the timer can be set and stopped with only the keyboard', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const boss = (await visitor({ as: lead, ...wide })).page
  await boss.goto(`/admin/${lab.id}`)
  await boss.getByRole('tab', { name: 'Chat' }).focus()
  for (let i = 0; i < 3; i++) await boss.keyboard.press('ArrowRight')
  await boss.getByLabel('Minutes').focus()
  await boss.keyboard.type('2')
  await boss.keyboard.press('Enter')
  await boss.getByRole('button', { name: 'Stop', exact: true }).waitFor()
  assert.equal((await timerOf(lead, lab)).total_seconds, 120)
  await right(boss, lead, lab)
  await still(boss) // while a request is running, another key has no effect
  await boss.getByRole('button', { name: 'Stop', exact: true }).focus()
  await boss.keyboard.press('Enter')
  await boss.getByRole('timer').first().waitFor({ state: 'detached' })
})
