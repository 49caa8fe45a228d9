// Notifications for people who look elsewhere: title and icon, sound, browser notifications.
import assert from 'node:assert/strict'
import { Network } from './harness/network.mjs'
import { accessible, offline, stage, until } from './harness/stage.mjs'

/** A host name other than the machine's own, so that its pages are not a secure context. */
const elsewhere = 'workshop.test'
const { test, long } = stage({ hosts: [elsewhere] })

/** Records the page's tones and notifications, and removes the focus from the page. */
async function listen(context) {
  await context.addInitScript(() => {
    globalThis.tones = 0
    if (!globalThis.ServiceWorkerRegistration) globalThis.ServiceWorkerRegistration = class {} // no secure context
    const start = OscillatorNode.prototype.start
    OscillatorNode.prototype.start = function (...at) {
      globalThis.tones++
      return start.apply(this, at)
    }
    globalThis.shown = []
    const show = ServiceWorkerRegistration.prototype.showNotification
    ServiceWorkerRegistration.prototype.showNotification = async function (title, options) {
      await show.call(this, title, options)
      globalThis.shown.push(`${title}: ${options.body}`)
    }
    document.hasFocus = () => globalThis.looked ?? false
  })
}

/** Opens the notification settings and switches options on. The dialog stays open. */
async function switchOn(page, ...names) {
  // The live view has the item in its own menu, and the reader in the menu of the device.
  await page
    .getByRole('button', { name: 'More', exact: true })
    .or(page.getByRole('button', { name: 'Appearance and language' }))
    .first()
    .click()
  await page.getByRole('menuitem', { name: 'Notify me' }).click()
  for (const name of names) await page.getByLabel(name).check()
}
/** Blocks notifications, as a person can in the browser's settings. */
async function deny(browser, page) {
  const target = await page.context().newCDPSession(page)
  const { targetInfo } = await target.send('Target.getTargetInfo')
  const session = await browser.newBrowserCDPSession()
  await session.send('Browser.setPermission', {
    permission: { name: 'notifications' },
    setting: 'denied',
    browserContextId: targetInfo.browserContextId,
  })
}

const close = (page) => page.getByRole('dialog').locator('footer').getByRole('button', { name: 'Close' }).click()
const icon = (page) => page.locator('link[rel=icon]').getAttribute('href')
const tones = (page) => page.evaluate(() => globalThis.tones)
const shown = (page) => page.evaluate(() => globalThis.shown)

long(
  'a facilitator is notified when somebody asks for help, without the name or the message',
  async ({ server, visitor, facilitator, person }) => {
    const lead = await facilitator()
    const lab = await lead.codelab({ title: 'A small service' })
    const [ann, bob] = [await person(lab, 'Ann'), await person(lab, 'Bob')]
    const network = await Network.before(server)
    const desk = await visitor({ as: lead, baseURL: network.url, permissions: ['notifications'], serviceWorkers: 'allow' })
    desk.context.on('close', () => void network.remove())
    desk.expect(offline)
    await listen(desk.context)
    const { page } = desk
    await page.goto(`/admin/${lab.id}`)
    await page.getByRole('region', { name: 'Help queue' }).waitFor()
    assert.equal(await page.title(), 'A small service · Live · Atelier')

    // By default everything is off, and only the tab shows marks.
    await ann.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1, message: 'my password is hunter2' })
    await page.waitForFunction(() => document.title.startsWith('(1) '))
    assert.equal(await icon(page), '/favicon-dot.svg')
    assert.equal(await tones(page), 0)
    await page.evaluate(() => {
      globalThis.looked = true
      dispatchEvent(new Event('focus'))
      globalThis.looked = false
    })
    await until('the dot to disappear', async () => (await icon(page)) === '/favicon.svg')

    await switchOn(page, 'A sound', 'A browser notification', 'A direct message')
    await page.getByText('Allowed.').waitFor()
    await accessible(page)
    await page.getByRole('button', { name: 'Try it' }).click()
    await until('the trial notification', async () => (await shown(page)).includes('A small service: This is what a notification looks like.'))
    await until('the sound', async () => (await tones(page)) === 2)
    await page.getByText('You should now hear or see what you have chosen.').waitFor()
    await close(page)

    // A repeated request within ten seconds is shown without a second sound.
    const realTime = await page.evaluateHandle(() => Date.now)
    await page.evaluate(() => {
      const then = JSON.parse(localStorage.getItem('atelier:call:sounded'))
      Date.now = () => then + 9000
    })
    await bob.send('POST', `/codelabs/${lab.id}/help`, { step_number: 2, message: 'hunter3' })
    await until('the notification of the request', async () => (await shown(page)).includes('A small service: Somebody is asking for help.'))
    assert.equal(await tones(page), 2)
    await realTime.evaluate((now) => (Date.now = now))
    // The notifications that the browser shows.
    const there = await page.evaluate(async () => (await (await navigator.serviceWorker.ready).getNotifications()).map((n) => `${n.title} ${n.body}`).sort())
    assert.deepEqual(there, ['A small service Somebody is asking for help.', 'A small service This is what a notification looks like.'])
    assert.equal((await page.title()).slice(0, 4), '(2) ')

    // After the pause between sounds, only one of two tabs plays the sound and shows the
    // notification.
    const second = await desk.context.newPage()
    await second.goto(`/admin/${lab.id}`)
    await second.getByRole('region', { name: 'Help queue' }).getByText('Bob').waitFor()
    for (const tab of [page, second]) await tab.evaluate(() => localStorage.setItem('atelier:call:sounded', '0'))
    await second.getByRole('heading', { name: 'Help' }).first().click() // a click permits this tab to play sounds, too
    await ann.say(lab, { type: 'dm', target_id: 'facilitator', message: 'hunter4' })
    await until('the notification of the direct message', async () => (await shown(page)).includes('A small service: A direct message for you.'))
    await until('the sound of the direct message', async () => (await tones(page)) === 4)
    await second.waitForFunction(() => document.title.startsWith('(3) '))
    assert.equal(await tones(second), 0)

    // Events during a lost connection cause no notification, but the page shows them.
    await page.close()
    await second.evaluate(() => localStorage.setItem('atelier:call:sounded', '0'))
    network.cut()
    await second.getByText('Connection lost.').first().waitFor()
    await bob.send('POST', `/codelabs/${lab.id}/help/${(await lead.send('GET', `/codelabs/${lab.id}/help`))[1].id}/resolve`)
    await bob.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1 })
    network.mend()
    await second.getByText(/of \d+ here/).waitFor()
    await second.getByRole('region', { name: 'Help queue' }).getByText('step 1').nth(1).waitFor()
    assert.deepEqual([await tones(second), await shown(second)], [0, []])
    await ann.say(lab, { type: 'dm', target_id: 'facilitator', message: 'hunter5' })
    await until('the remaining tab to play the sound', async () => (await tones(second)) === 2)
  },
  { chromium: 'notifications of Firefox cannot be allowed here' },
)

test(
  'an attendee is notified when they are next, when help is coming, and of a message to everybody',
  async ({ visitor, facilitator, person }) => {
    const lead = await facilitator()
    const lab = await lead.codelab({ title: 'A small service' })
    const [ann, bob] = [await person(lab, 'Ann'), await person(lab, 'Bob')]
    for (const p of [ann, bob]) await p.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1 })
    const seat = await visitor({
      as: bob,
      permissions: ['notifications'],
      serviceWorkers: 'allow',
      viewport: { width: 390, height: 800 },
      hasTouch: true,
      isMobile: true,
    })
    await listen(seat.context)
    const { page } = seat
    await page.clock.install()
    await page.goto(`/codelabs/${lab.id}`)
    await page.getByText('You are number 2.').first().waitFor()
    await page.getByRole('button', { name: 'Appearance and language' }).click()
    await page.getByRole('menuitem', { name: 'Notify me' }).click()
    await page.getByLabel('A browser notification').check()
    await page.getByText('Allowed.').waitFor()
    await accessible(page)
    await close(page)

    const [first] = await lead.send('GET', `/codelabs/${lab.id}/help`)
    await lead.send('POST', `/codelabs/${lab.id}/help/${first.id}/resolve`)
    await page.clock.runFor(25_000)
    await until('the notification that they are next', async () => (await shown(page)).includes('A small service: You are next in the queue for help.'))
    const [own] = await bob.send('GET', `/codelabs/${lab.id}/help`)
    await lead.send('POST', `/codelabs/${lab.id}/help/${own.id}/claim`)
    await until('the notification that help is coming', async () => (await shown(page)).includes('A small service: Somebody is coming to help you.'))
    await lead.say(lab, { type: 'broadcast', message: 'Lunch at noon' })
    await until('the notification of the message to everybody', async () => (await shown(page)).includes('A small service: A message to everybody.'))
    assert.equal((await page.title()).slice(0, 4), '(3) ')
    assert.equal(await tones(page), 0)
  },
  { chromium: 'notifications of Firefox cannot be allowed here' },
)

long(
  'a blocked permission is reported, and the sound still works',
  async ({ visitor, facilitator, person, browser }) => {
    const lead = await facilitator()
    const lab = await lead.codelab({ title: 'A small service' })
    const ann = await person(lab, 'Ann')
    const desk = await visitor({ as: lead })
    await listen(desk.context)
    const { page } = desk
    await deny(browser, page)
    await page.goto(`/admin/${lab.id}`)
    await switchOn(page, 'A sound')
    await page.getByText(/^Blocked\./).waitFor()
    assert.ok(await page.getByLabel('A browser notification').isDisabled())
    await accessible(page)
    await close(page)
    await ann.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1 })
    await until('the sound', async () => (await tones(page)) === 2)
    assert.equal(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length), 0)
  },
  { chromium: 'no other browser lets a test block notifications' },
)

long(
  'a page without HTTPS explains why it shows no notifications',
  async ({ server, visitor, facilitator, person }) => {
    const lead = await facilitator()
    const lab = await lead.codelab({ title: 'A small service' })
    const ann = await person(lab, 'Ann')
    const url = server.url.replace('127.0.0.1', elsewhere)
    const desk = await visitor({ baseURL: url })
    await desk.context.addCookies(lead.browserCookies(url))
    desk.expect(/Cross-Origin-Opener-Policy header has been ignored/)
    await listen(desk.context)
    const { page } = desk
    await page.goto(`/admin/${lab.id}`)
    await switchOn(page, 'A sound')
    await page.getByText(/^Not available over this connection/).waitFor()
    assert.ok(await page.getByLabel('A browser notification').isDisabled())
    await close(page)
    await ann.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1 })
    await until('the sound', async () => (await tones(page)) === 2)
    await page.waitForFunction(() => document.title.startsWith('(1) '))
  },
  { chromium: 'Firefox plays no sound before a press' },
)
