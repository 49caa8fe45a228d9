// The connection survives a killed or stopping server, a lost network, a network that breaks
// sockets, and several tabs.
import assert from 'node:assert/strict'
import { Network } from './harness/network.mjs'
import { accessible, inFirefox, offline, stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()

const away = [offline, /ERR_(INTERNET_DISCONNECTED|FAILED|ABORTED)/, /503/]

test('after a SIGKILL nobody loses text, place or messages', async ({ server, visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: ['# One\n\nFirst.', '# Two\n\n' + 'A line of text.\n\n'.repeat(60), '# Three\n\nThird.'] })
  const ann = await person(lab, 'Attendee 1')
  const ben = await person(lab, 'Attendee 2')
  const guest = await visitor({ as: ann })
  const phone = await visitor({ as: ben, viewport: { width: 390, height: 800 }, hasTouch: true })
  for (const v of [guest, phone]) v.expect(...away)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}?step=2`)
  await connected(page)
  await phone.page.goto(`/codelabs/${lab.id}`)
  await phone.page.getByRole('heading', { name: 'One' }).waitFor()
  await until('the step to be stored', async () => (await lead.get(`/codelabs/${lab.id}/attendees`))[0].current_step === 2)
  await lead.say(lab, { type: 'chat', message: 'before' })
  await page.getByRole('log').getByText('before').waitFor()
  await page.locator('main').evaluate((main) => (main.scrollTop = 500))
  const field = page.getByLabel('Write to everybody')

  await server.kill()
  await lost(page)
  await field.fill('said while it was away')
  await field.press('Enter')
  await page.getByText('waiting to be sent').waitFor()
  await field.fill('not finished')
  assert.ok(await page.getByText('A line of text.').first().isVisible())
  await server.start()
  await connected(page)
  await until('one stored message', async () => (await lead.get(`/codelabs/${lab.id}/chat`)).filter((m) => m.message === 'said while it was away').length === 1)
  await page.getByText('waiting to be sent').waitFor({ state: 'detached' })
  assert.equal(await page.getByRole('log').getByText('said while it was away').count(), 1)
  assert.equal(await field.inputValue(), 'not finished')
  assert.equal(await page.locator('main').evaluate((main) => main.scrollTop), 500)
  assert.ok(await page.getByRole('heading', { name: 'Two' }).isVisible())

  // The phone also reconnects automatically.
  await phone.page.getByRole('button', { name: 'Chat' }).click()
  await phone.page.getByRole('log').getByText('said while it was away').waitFor()

  // Everything is still present after a reload.
  await page.reload()
  await page.getByRole('heading', { name: 'Two' }).waitFor()
  assert.equal(await field.inputValue(), 'not finished')
  await until('the place in the text to be restored', async () => (await page.locator('main').evaluate((main) => main.scrollTop)) === 500)
})

test('a silently dead connection is replaced in the reader, in the live view and on the projector', async ({ server, visitor, facilitator, person }) => {
  const network = await Network.before(server)
  const lead = await facilitator()
  const lab = await lead.codelab()
  const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
  const pages = []
  for (const [path, options] of [
    [`/codelabs/${lab.id}`, { as: await person(lab, 'Attendee 1') }],
    [`/admin/${lab.id}`, { as: lead, ...phone }],
    [`/admin/${lab.id}/projector`, { as: lead }],
  ]) {
    const guest = await visitor({ ...options, baseURL: network.url })
    if (inFirefox) guest.expect(offline)
    const { page } = guest
    await page.clock.install()
    const welcomed = page.waitForEvent('websocket').catch(() => {})
    await page.goto(path)
    await Promise.race([welcomed, still(page)])
    await still(page)
    pages.push(page)
  }
  const shown = (page) => page.getByRole('timer').filter({ visible: true }).first()
  // All tabs are notified.
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 600, label: '', kind: 'break' })
  for (const page of pages) await shown(page).waitFor()
  network.swallow()
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: null })
  for (const page of pages) assert.equal(await shown(page).count(), 1)
  // After at most 36 seconds of silence, each page sends a hello and waits five seconds for an
  // answer.
  for (const page of pages) await page.clock.runFor(45_000)
  for (const page of pages) await until('the timer to disappear', async () => (await shown(page).count()) === 0)
  await network.remove()
})

long('missed messages are delivered after an outage, and announced', async ({ server, visitor, facilitator, person }) => {
  const network = await Network.before(server)
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Attendee 1'), baseURL: network.url })
  guest.expect(...away)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  network.cut()
  await lost(page)
  for (let i = 1; i <= 12; i++) await lead.say(lab, { type: 'chat', message: `number ${i}` })
  // The text is shown for three seconds only. On a busy machine, the messages can arrive in several
  // parts.
  await page.evaluate(() => {
    window.shown = []
    const look = () => window.shown.push(...[...document.querySelectorAll('[role=status]')].map((e) => e.textContent))
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true })
  })
  network.mend()
  await until('the missed messages to be announced', () =>
    page.evaluate(() => window.shown.some((t) => /connected again, \d+ missed messages? arrived/.test(t))),
  )
  await page.getByRole('log').getByText('number 12', { exact: true }).waitFor()
  assert.equal(
    await page
      .getByRole('log')
      .getByText(/^number \d+$/)
      .count(),
    12,
  )
  await network.remove()
})

long('a message that was written offline is sent once, even if the tab was closed', async ({ server, visitor, facilitator, person }) => {
  const network = await Network.before(server)
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Attendee 1'), baseURL: network.url })
  guest.expect(...away)
  const { context, page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  network.cut()
  await lost(page)
  await page.getByLabel('Write to everybody').fill('from the train')
  await page.keyboard.press('Enter')
  await page.getByText('waiting to be sent').waitFor()
  await page.close()
  network.mend()
  const again = await context.newPage()
  await again.goto(`/codelabs/${lab.id}`)
  await again.getByRole('log').getByText('from the train').waitFor()
  await again.getByText('waiting to be sent').waitFor({ state: 'detached' })
  assert.equal((await lead.get(`/codelabs/${lab.id}/chat`)).filter((m) => m.message === 'from the train').length, 1)
  await network.remove()
})

long('two tabs of one person do not disturb each other', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  const one = guest.page
  const two = await guest.context.newPage()
  for (const page of [one, two]) {
    await page.goto(`/codelabs/${lab.id}`)
    await connected(page)
  }
  await one.getByLabel('Write to everybody').fill('from the first')
  await one.keyboard.press('Enter')
  for (const page of [one, two]) await page.getByRole('log').getByText('from the first').waitFor()
  await two.getByLabel('Write to everybody').fill('from the second')
  await two.keyboard.press('Enter')
  for (const page of [one, two]) await page.getByRole('log').getByText('from the second').waitFor()
  assert.equal((await lead.get(`/codelabs/${lab.id}/chat`)).length, 2)
  // Each tab stays on its step, and both show the mood.
  await one.keyboard.press('Escape')
  await one.getByRole('link', { name: /Two/ }).click()
  await one.getByRole('button', { name: 'Slow' }).click()
  await until('the other tab to show the pulse', async () => (await two.getByRole('button', { name: 'Slow' }).getAttribute('aria-pressed')) === 'true')
  assert.ok(await two.getByRole('heading', { name: 'One' }).isVisible())
})

long('eight tabs share one stream where sockets are blocked', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  guest.expect(/WebSocket/)
  await guest.context.addInitScript(() => {
    // A network that breaks every WebSocket before it opens.
    window.WebSocket = class {
      constructor() {
        setTimeout(() => this.onclose?.({ code: 1006 }))
      }
      send() {}
      close() {}
    }
  })
  const pages = [guest.page]
  while (pages.length < 8) pages.push(await guest.context.newPage())
  for (const page of pages) {
    await page.goto(`/codelabs/${lab.id}`)
    await connected(page)
  }
  await lead.say(lab, { type: 'chat', message: 'to all tabs' })
  for (const page of pages) await page.getByRole('log').getByText('to all tabs').waitFor()
  // Each tab can still send, since the browser has connections left.
  await pages[7].getByLabel('Write to everybody').fill('from the last')
  await pages[7].keyboard.press('Enter')
  for (const page of pages) await page.getByRole('log').getByText('from the last').waitFor()
  assert.equal((await lead.get(`/codelabs/${lab.id}/presence`)).attendee_ids.length, 1)
  // No tab owns the shared stream, so the first tab can close.
  await pages[0].close()
  await lead.say(lab, { type: 'chat', message: 'after one left' })
  for (const page of pages.slice(1)) await page.getByRole('log').getByText('after one left').waitFor()
})

long('people reconnect by themselves after the server is stopped and started', async ({ server, visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  guest.expect(...away)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  await server.stop()
  await lost(page)
  await server.start()
  await connected(page)
  await lead.say(lab, { type: 'chat', message: 'again' })
  await page.getByRole('log').getByText('again').waitFor()
})

long('a removed attendee is informed, and can join again', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann })
  guest.expect(/40[134]/, /WebSocket/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  await lead.delete(`/codelabs/${lab.id}/attendees/${ann.id}`)
  await page.getByText('You are no longer in this workshop').waitFor()
  await page.getByRole('button', { name: 'Join again' }).first().click()
  await page.getByLabel('Your name').fill('Attendee 2')
  await page.getByRole('button', { name: 'Join', exact: true }).click()
  await connected(page)
})

long("a removed attendee with two tabs finds each tab's drafts in that tab, and can join again in both", async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann })
  guest.expect(/40[134]/, /WebSocket/)
  const one = guest.page
  const two = await guest.context.newPage()
  const begun = new Map([
    [one, 'begun in one'],
    [two, 'begun in two'],
  ])
  for (const [page, text] of begun) {
    await page.goto(`/codelabs/${lab.id}`)
    await connected(page)
    await page.getByLabel('Write to everybody').fill(text)
  }
  await lead.delete(`/codelabs/${lab.id}/attendees/${ann.id}`)
  for (const [page, text] of begun) await page.getByRole('region', { name: 'Not sent' }).getByText(text).waitFor()
  await one.getByRole('button', { name: 'Join again' }).click()
  await one.getByLabel('Your name').fill('Attendee 2')
  await one.getByRole('button', { name: 'Join', exact: true }).click()
  await connected(one)
  await two.getByRole('button', { name: 'Join again' }).click()
  await connected(two)
  assert.equal((await lead.get(`/codelabs/${lab.id}/attendees`)).length, 1)
})

long(
  'a facilitator whose socket worker ends or fails to load is connected again',
  async ({ server, visitor, facilitator, person }) => {
    const lead = await facilitator()
    const lab = await lead.codelab()
    const ann = await person(lab, 'Attendee 1')
    const boss = await visitor({ as: lead, viewport: { width: 1440, height: 860 } })
    boss.expect(...away)
    const one = boss.page
    const two = await boss.context.newPage()
    // The first request for the worker's script fails.
    let asked = 0
    await two.route(/socket\.worker/, (route) => (asked++ === 0 ? route.abort() : route.continue()))
    for (const page of [one, two]) {
      await page.goto(`/admin/${lab.id}`)
      await connected(page)
    }
    assert.equal(asked, 2)
    // The worker ends without a notification, as when a browser ends it.
    await one.workers()[0].evaluate(() => void setTimeout(() => close()))
    await ann.say(lab, { type: 'chat', message: 'to both' })
    for (const page of [two, one]) await page.getByText('to both').first().waitFor()
    // The server stops, and stops again as soon as it is back, while sockets are being opened.
    await server.kill()
    for (const page of [one, two]) await lost(page)
    await server.start()
    await server.kill()
    await server.start()
    for (const page of [one, two]) await connected(page)
    await ann.say(lab, { type: 'chat', message: 'to both again' })
    for (const page of [one, two]) await page.getByText('to both again').first().waitFor()
    await until('no extra worker to be left', () => one.workers().length < 2 && two.workers().length < 2)
  },
  { chromium: 'no other browser lets a test end a worker' },
)

/**
 * Waits until the page shows that it is connected. Attendees see a text, and facilitators the
 * number of people.
 */
const connected = (page) =>
  page
    .getByText(/^● (connected|.* here)/)
    .filter({ visible: true })
    .first()
    .waitFor()
const lost = (page) => page.getByText('Connection lost.').first().waitFor()

long('a session that ended during an outage is noticed', async ({ server, visitor, facilitator, person }) => {
  const network = await Network.before(server)
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann, baseURL: network.url })
  guest.expect(...away, /40[134]/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  network.cut()
  await lost(page)
  const field = page.getByLabel('Write to everybody')
  await field.fill('said too late')
  await field.press('Enter')
  await field.fill('only begun')
  await lead.delete(`/codelabs/${lab.id}/attendees/${ann.id}`)
  network.mend()
  await page.getByText('You are no longer in this workshop').waitFor()
  // Typing is impossible, unsent text can be copied, and nothing stays stored.
  assert.equal(await page.locator('input, textarea').count(), 0)
  const unsent = page.getByRole('region', { name: 'Not sent' })
  assert.deepEqual(await unsent.getByRole('listitem').locator('p').allTextContents(), ['said too late', 'only begun'])
  await until('nothing to stay stored', () => page.evaluate((id) => !Object.keys(localStorage).some((key) => key.includes(id)), lab.id))
  await page.getByRole('button', { name: 'Join again' }).click()
  await page.getByLabel('Your name').waitFor()
  await unsent.getByText('only begun').waitFor()
  await network.remove()
})

long('an attendee who was removed while the page was closed finds their unsent texts', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann })
  guest.expect(/40[134]/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  await page.getByLabel('Write to everybody').fill('only begun')
  await page.goto('/')
  await lead.delete(`/codelabs/${lab.id}/attendees/${ann.id}`)
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('region', { name: 'Not sent' }).getByText('only begun').waitFor()
  await page.reload()
  await page
    .getByLabel('Your name')
    .or(page.getByLabel('Code', { exact: true }))
    .first()
    .waitFor()
  assert.equal(await page.getByText('only begun').count(), 0)
})

long('after a sign-out elsewhere, the page shows a notice and keeps unsent texts', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ is_public: true })
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann })
  guest.expect(/40[13]/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  await page.getByLabel('Write to everybody').fill('only begun')
  await ann.post('/logout')
  await page.getByRole('alert').getByText('You are no longer in this codelab on this device.').first().waitFor()
  // All of the text stays readable, but nothing can be written.
  await page.getByText('The first step.').waitFor()
  await page.keyboard.press('j')
  await page.getByText('The second step.').waitFor()
  assert.equal(await page.locator('input, textarea').count(), 0)
  await page.keyboard.press('h')
  await still(page)
  assert.equal(await page.getByRole('dialog').count(), 0)
  assert.equal(await page.getByRole('button', { name: /Ask for help|Stuck/ }).count(), 0)
  await page.getByRole('navigation', { name: 'Steps' }).getByText('Feedback').click()
  await page.getByRole('heading', { name: 'Feedback' }).waitFor()
  assert.equal(await page.getByRole('button', { name: /Send/ }).isDisabled(), true)
  await accessible(page)
  await page.getByRole('button', { name: /Not sent/ }).click()
  await page.getByRole('dialog').getByText('only begun').waitFor()
  await page.getByText('kept on this device until you are back').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Join again' }).click()
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.getByText('E-mail, own code').click()
  await page.getByLabel(/Own code/).fill('4711')
  await page.getByRole('button', { name: 'Join', exact: true }).click()
  await connected(page)
  assert.equal(await page.getByLabel('Write to everybody').inputValue(), 'only begun')
})

long('a facilitator who is signed out has no field to write in', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const boss = await visitor({ as: lead, viewport: { width: 1440, height: 860 } })
  boss.expect(/40[13]/)
  const { page } = boss
  await page.goto(`/admin/${lab.id}`)
  await page.getByLabel('Write to everybody').waitFor()
  await connected(page)
  await lead.post('/logout')
  await page.getByRole('complementary').getByText('You are no longer in this codelab on this device.').first().waitFor()
  assert.equal(await page.getByLabel('Write to everybody').count(), 0)
})

long('a browser without storage can take part', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor()
  await page.addInitScript(() => {
    for (const name of ['localStorage', 'sessionStorage']) {
      Object.defineProperty(window, name, {
        get() {
          throw new DOMException('forbidden', 'SecurityError')
        },
      })
    }
  })
  await page.goto(`/j/${lab.join_code}`)
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.getByRole('button', { name: 'Join', exact: true }).click()
  await connected(page)
  await page.getByLabel('Write to everybody').fill('Hello')
  await page.keyboard.press('Enter')
  await until('the message to be stored', async () => (await lead.get(`/codelabs/${lab.id}/chat`)).length === 1)
})

long('without a network the text stays, whatever the person presses', async ({ server, visitor, facilitator, person }) => {
  const network = await Network.before(server)
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Attendee 1'), baseURL: network.url })
  guest.expect(...away, /dynamically imported|preload/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  network.cut()
  await lost(page)
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByText('This part could not be loaded').waitFor()
  assert.ok(await page.getByText('The first step.').isVisible())
  network.mend()
  await connected(page)
  await page.getByRole('tab', { name: 'Chat' }).click()
  await page.getByLabel('Write to everybody').waitFor()
  await network.remove()
})

long('the chat opens at its newest message, and stays at its end', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ben = await person(lab, 'Attendee 2')
  for (let i = 1; i <= 40; i++) await ben.say(lab, { type: 'chat', message: `number ${i}` })
  const { page } = await visitor({ as: await person(lab, 'Attendee 1') })
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  const log = page.getByRole('log')
  const left = () => log.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight)
  await until('the chat to be at its end', async () => (await log.getByText('number 40').count()) === 1 && (await left()) < 3)
  await ben.say(lab, { type: 'chat', message: 'one more' })
  await log.getByText('one more').waitFor()
  await until('the chat to be at its end again', async () => (await left()) < 3)
  // The page must handle the scroll event before the next message arrives.
  await log.evaluate(
    (e) =>
      new Promise((done) => {
        e.addEventListener('scroll', () => done(), { once: true })
        e.scrollTop = 0
      }),
  )
  for (let i = 0; i < 60; i++) await ben.say(lab, { type: 'chat', message: `later ${i}` })
  await page.getByRole('button', { name: '60 new' }).click()
  await until('the jump to reach the end', async () => (await left()) < 3)
})

long('a page without an answer from the server is not shown as connected', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann })
  guest.expect(/WebSocket/, /ERR_/, /Failed to load/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  await guest.context.setOffline(true) // open connections stay open, but silent
  await page.getByText('The server does not answer.').or(page.getByText('Connection lost.')).first().waitFor()
  await guest.context.setOffline(false)
  await connected(page)

  const ben = await person(lab, 'Attendee 2')
  const phone = await visitor({ as: ben, viewport: { width: 390, height: 800 } })
  await phone.page.goto(`/codelabs/${lab.id}`)
  await phone.page.getByRole('img', { name: 'connected' }).waitFor()
})
