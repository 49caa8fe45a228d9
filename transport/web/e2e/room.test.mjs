// What a whole workshop in real browsers showed.
import assert from 'node:assert/strict'
import { stage, until } from './harness/stage.mjs'

const connected = (page) => page.getByText('● connected').waitFor()
const { test } = stage({ env: { ATELIER_LIMITS_MESSAGES_PER_SECOND: '0' } })

test('who was helped is not in the queue after a reload, and can ask again', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  await ann.post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  const [request] = await lead.get(`/codelabs/${lab.id}/help`)
  const { page } = await visitor({ as: ann })
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByText(/[Ii]n the queue for help/).first().waitFor()
  await lead.post(`/codelabs/${lab.id}/help/${request.id}/resolve`)
  await until('the strip goes', async () => (await page.getByText(/[Ii]n the queue for help/).count()) === 0)
  await page.reload()
  await connected(page)
  await page.getByRole('heading', { name: 'One' }).waitFor()
  assert.equal(await page.getByText(/[Ii]n the queue for help/).count(), 0)
})

test('messages by requests arrive in the order in which they were said', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  guest.expect(/WebSocket/)
  await guest.context.addInitScript(() => {
    window.WebSocket = class {
      constructor() {
        setTimeout(() => this.onclose?.({ code: 1006 }))
      }
      send() {}
      close() {}
    }
  })
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  // Requests that take their time, the first the longest.
  let taken = 0
  await page.route('**/messages?*', async (route) => {
    await new Promise((done) => setTimeout(done, 400 / ++taken))
    await route.continue()
  })
  const said = Array.from({ length: 8 }, (_, i) => `word ${i + 1}`)
  for (const word of said) {
    await page.getByLabel('Write to everybody').fill(word)
    await page.keyboard.press('Enter')
  }
  const stored = async () => (await lead.get(`/codelabs/${lab.id}/chat`)).map((c) => c.message)
  await until('all have arrived', async () => (await stored()).length === said.length)
  assert.deepEqual(await stored(), said)
})

test('the chat follows a lively room without anybody’s scrolling', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ben = await person(lab, 'Attendee 2')
  for (let i = 1; i <= 40; i++) await ben.say(lab, { type: 'chat', message: `number ${i}` })
  const { page } = await visitor({ as: await person(lab, 'Attendee 1') })
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  const log = page.getByRole('log')
  const left = () => log.evaluate((e) => e.scrollHeight - e.scrollTop - e.clientHeight)
  await until('it is at the end', async () => (await log.getByText('number 40').count()) === 1 && (await left()) < 3)
  // A message lands between the jump to the end and the event that tells of it.
  await log.evaluate((e) => {
    const late = document.createElement('div')
    late.style.height = '90px'
    e.addEventListener('scroll', () => e.append(late), { once: true, capture: true })
  })
  for (let i = 0; i < 30; i++) await ben.say(lab, { type: 'chat', message: `lively ${i}` })
  await until('the newest is in view', async () => (await log.getByText('lively 29').count()) === 1 && (await left()) < 3)
  assert.equal(await page.getByRole('button', { name: /\d+ new/ }).count(), 0)
})

test('what happens is told to those who do not look: solved help, pin, pointer, hints', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann })
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  const said = (text) => until(`it is read out: ${text}`, async () => (await page.locator('[aria-live=polite].unseen').textContent())?.includes(text))
  await lead.put(`/codelabs/${lab.id}/pin`, { message: 'Break until ten' })
  await said('Pinned for everybody: Break until ten')
  await lead.say(lab, { type: 'pointer', step_number: 2 })
  await said('The workshop is at step 2.')
  await lead.say(lab, { type: 'pointer', step_number: 2, hints: true })
  await said('The hints of step 2 are open.')
  await ann.post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  const [request] = await lead.get(`/codelabs/${lab.id}/help`)
  await lead.post(`/codelabs/${lab.id}/help/${request.id}/resolve`)
  await page.getByText('A facilitator has marked your question as solved.').waitFor()
})

test('a room that asks for help interrupts no facilitator, and can be quiet', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const people = []
  for (let i = 1; i <= 6; i++) people.push(await person(lab, `Attendee ${i}`))
  const { page } = await visitor({ as: lead })
  await page.goto(`/admin/${lab.id}`)
  await page.getByLabel('Read new requests out').waitFor()
  await connected(page)
  const [polite, urgent] = [page.locator('[aria-live=polite].unseen'), page.locator('[aria-live=assertive].unseen')]
  for (const p of people.slice(0, 4)) await p.post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  await until('the rest is read out together', async () => (await polite.textContent()).includes('3 people ask for help.'))
  assert.equal(await urgent.textContent(), '')
  await page.getByLabel('Read new requests out').uncheck()
  const before = await polite.textContent()
  await people[5].post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  await page.getByText('Attendee 6').first().waitFor()
  assert.equal(await polite.textContent(), before)
})

test('the focus goes to what comes next: after joining, and to whom one writes', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor()
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.keyboard.press('Enter')
  await connected(page)
  await until('the text has the focus', () => page.evaluate(() => document.activeElement?.closest('main') !== null))

  const desk = await visitor({ as: lead })
  await desk.page.goto(`/admin/${lab.id}`)
  await desk.page.getByRole('main').getByText('Attendee 1').first().click()
  await desk.page.getByRole('dialog', { name: 'Attendee 1' }).getByRole('button', { name: 'Write', exact: true }).click()
  await until('the message has the focus', () => desk.page.evaluate(() => document.activeElement?.tagName === 'TEXTAREA'))
  await desk.page.keyboard.type('Can I help?')
  await desk.page.keyboard.press('Enter')
  await page.getByText('Can I help?').first().waitFor()
})
