// Regression tests for faults that appeared in a whole workshop with real browsers.
import assert from 'node:assert/strict'
import { stage, still, until } from './harness/stage.mjs'

/**
 * Waits until the page shows that it is connected. Attendees see a word, and facilitators the
 * number of people.
 */
const connected = (page) =>
  page
    .getByText(/^● (connected|.* here)/)
    .filter({ visible: true })
    .first()
    .waitFor()
const { test, long } = stage({ env: { ATELIER_LIMITS_MESSAGES_PER_SECOND: '0' } })

long('an attendee whose request was solved sees no request after a reload', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  await ann.post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  const [request] = await lead.get(`/codelabs/${lab.id}/help`)
  const { page } = await visitor({ as: ann })
  await page.goto(`/codelabs/${lab.id}`)
  const notices = page.getByRole('region', { name: 'Notices' })
  await notices.getByText('You are number 1.').waitFor()
  await lead.post(`/codelabs/${lab.id}/help/${request.id}/resolve`)
  await until('the notices to disappear', async () => (await notices.count()) === 0)
  await page.reload()
  await connected(page)
  await page.getByRole('heading', { name: 'One' }).waitFor()
  await still(page)
  assert.equal(await notices.count(), 0)
})

long('messages that are sent by HTTP requests arrive in the order of writing', async ({ visitor, facilitator, person }) => {
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
  // The requests are slow, and the first is the slowest.
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
  await until('all messages to be stored', async () => (await stored()).length === said.length)
  assert.deepEqual(await stored(), said)
})

long('the chat follows a lively room without scrolling by hand', async ({ visitor, facilitator, person }) => {
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
  // A message arrives between the jump to the end and the scroll event.
  await log.evaluate((e) => {
    const late = document.createElement('div')
    late.style.height = '90px'
    e.addEventListener('scroll', () => e.append(late), { once: true, capture: true })
  })
  for (let i = 0; i < 30; i++) await ben.say(lab, { type: 'chat', message: `lively ${i}` })
  await until('the newest message to be in view', async () => (await log.getByText('lively 29').count()) === 1 && (await left()) < 3)
  assert.equal(await page.getByRole('button', { name: /\d+ new/ }).count(), 0)
})

long('screen readers announce solved help, the pin, the pointer and hints', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann })
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  const said = (text) => until(`"${text}" to be read out`, async () => (await page.locator('[aria-live=polite].unseen').textContent())?.includes(text))
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

long("a waiting attendee's page does not read the queue in a loop", async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann })
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  await ann.post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  await page.getByText('You are number 1.').waitFor()
  let reads = 0
  const begun = performance.now()
  page.on('request', (r) => (reads += new URL(r.url()).pathname.endsWith(`/codelabs/${lab.id}/help`) ? 1 : 0))
  // The test waits for ten round trips. In an endless loop, about ten reads would happen in this
  // time.
  for (let i = 0; i < 10; i++) {
    await lead.say(lab, { type: 'broadcast', message: `Word ${i}` })
    await page.getByText(`Word ${i}`).first().waitFor()
  }
  // The time can include the reads for the request itself, and one read every twenty seconds.
  const most = 4 + Math.floor((performance.now() - begun) / 20_000)
  assert.ok(reads <= most, `got ${reads} reads of the queue, want at most ${most}`)
})

long('many help requests do not interrupt screen readers, and announcements can be switched off', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const people = []
  for (let i = 1; i <= 6; i++) people.push(await person(lab, `Attendee ${i}`))
  const { page } = await visitor({ as: lead })
  await page.goto(`/admin/${lab.id}`)
  await connected(page)
  const [polite, urgent] = [page.locator('[aria-live=polite].unseen'), page.locator('[aria-live=assertive].unseen')]
  // Requests within five seconds are announced together.
  await Promise.all(people.slice(0, 4).map((p) => p.post(`/codelabs/${lab.id}/help`, { step_number: 1 })))
  await until('the other requests to be read out together', async () => (await polite.textContent()).includes('3 people ask for help.'))
  assert.equal(await urgent.textContent(), '')
  await page.getByRole('button', { name: 'More about the help queue' }).click()
  await page.getByRole('menuitemcheckbox', { name: 'Announce new requests' }).click()
  const before = await polite.textContent()
  await people[5].post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  await page.getByRole('region', { name: 'Help queue' }).getByText('Attendee 6').waitFor()
  assert.equal(await polite.textContent(), before)
})

long('the focus moves to the text after joining, and a facilitator can write to an attendee with the keyboard', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor()
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.keyboard.press('Enter')
  await connected(page)
  await until('the text to have the focus', () => page.evaluate(() => document.activeElement?.closest('main') !== null))

  const desk = await visitor({ as: lead })
  await desk.page.goto(`/admin/${lab.id}`)
  await desk.page.getByRole('main').getByText('Attendee 1').first().click()
  await desk.page.getByRole('dialog', { name: 'Attendee 1' }).getByLabel('Write to Attendee 1').focus()
  await desk.page.keyboard.type('Can I help?')
  await desk.page.keyboard.press('Enter')
  await page.getByText('Can I help?').first().waitFor()
})

long(
  "the pin is shown with the chat closed and on a phone, and the phone's chat shows a lost connection",
  async ({ visitor, facilitator, person }) => {
    const lead = await facilitator()
    const lab = await lead.codelab()
    await lead.put(`/codelabs/${lab.id}/pin`, { message: `Lunch at noon.\n${'Bring your badge. '.repeat(8)}` })
    const desk = await visitor({ as: await person(lab, 'Attendee 1') })
    await desk.page.goto(`/codelabs/${lab.id}`)
    await connected(desk.page)
    const pin = (page) => page.getByText(/Pinned · Lunch at noon/)
    await pin(desk.page).first().waitFor()
    await still(desk.page)
    assert.equal(await pin(desk.page).count(), 1, 'the pin is not shown exactly once')
    // A window of half a screen shows no panel next to the text.
    await desk.page.setViewportSize({ width: 1000, height: 800 })
    await desk.page.getByRole('region', { name: 'Notices' }).getByText('Lunch at noon.').waitFor()

    const phone = await visitor({ as: await person(lab, 'Attendee 2'), viewport: { width: 390, height: 844 } })
    await phone.page.goto(`/codelabs/${lab.id}`)
    const line = phone.page.getByRole('region', { name: 'Notices' })
    await line.getByText('Lunch at noon.').waitFor()
    // The whole note is in the panel with the chat.
    await line.locator('[data-first]').click()
    await phone.page
      .getByRole('complementary')
      .getByText(/Pinned · Lunch at noon/)
      .waitFor()
    const drawer = phone.page.getByRole('complementary')
    phone.expect(/Failed to load|WebSocket|ERR_INTERNET/)
    await phone.context.setOffline(true)
    await drawer.getByText('Connection lost.').waitFor()
    await drawer.getByRole('status').first().waitFor()
  },
  { chromium: 'sockets of Firefox stay open when it is set offline' },
)

long('notices cover nothing: the button to the next step can be reached', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: [`# One\n\n${'A line.\n\n'.repeat(30)}`, '# Two\n\nIt ends.'] })
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann, viewport: { width: 1366, height: 768 } })
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  await page.keyboard.press('c')
  await page.getByRole('complementary').waitFor({ state: 'detached' })
  await still(page)
  const heading = page.getByRole('heading', { name: 'One' })
  const before = await heading.boundingBox()
  await lead.put(`/codelabs/${lab.id}/pin`, { message: 'Lunch at noon' })
  await lead.say(lab, { type: 'broadcast', message: 'A break until ten. '.repeat(20) })
  await ann.post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  const notices = page.getByRole('region', { name: 'Notices' })
  await notices.getByText('To everybody').waitFor()
  await notices.getByRole('button', { name: '2 more notices' }).click()
  await notices.getByText('You are number 1.').waitFor()
  await notices.getByRole('button', { name: '2 more notices' }).click()
  await notices.getByText('Lunch at noon').waitFor()
  assert.deepEqual(await heading.boundingBox(), before, 'the text has moved')
  // The space below the text follows the height of the notices one frame later.
  await until('the button to be reachable at the end of the text', () =>
    page
      .getByRole('main')
      .getByRole('button', { name: /Two/ })
      .evaluate((e) => {
        const main = e.closest('main')
        main.scrollTo(0, main.scrollHeight)
        const box = e.getBoundingClientRect()
        return e.contains(document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2))
      }),
  )
})

long('comments on the text are read and answered in the live view', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  const annotate = (step, message) =>
    ann.post(`/codelabs/${lab.id}/inline-comments`, {
      anchor_key: `step|${step.id}|h|0|3`,
      target_type: 'step',
      target_step_id: step.id,
      start_offset: 0,
      end_offset: 3,
      selected_text: 'The',
      content_hash: 'h',
      message,
    })
  await annotate(lab.steps[1], 'Which port?')
  const { page } = await visitor({ as: lead })
  await page.goto(`/admin/${lab.id}`)
  const tab = page.getByRole('button', { name: /^Comments/ })
  await page.getByRole('button', { name: 'Comments 1 new comment' }).click()
  await annotate(lab.steps[0], 'Where do I begin?')
  const side = page.getByRole('complementary')
  await side.getByText('2 new comments').waitFor()
  await until('the announcement', async () => (await page.locator('[aria-live=polite].unseen').textContent()).includes('A new comment on the text.'))
  assert.deepEqual(await side.getByRole('heading', { level: 3 }).allTextContents(), ['Step 1: One', 'Step 2: Two'])
  const thread = side.getByRole('region').filter({ hasText: 'Which port?' })
  await thread.getByRole('button', { name: 'The' }).click()
  await thread.getByLabel('Answer').fill('8080')
  await thread.getByRole('button', { name: 'Answer' }).click()
  await thread.getByText('8080').waitFor()
  await side.getByText('1 new comment', { exact: true }).first().waitFor()
  const [answered] = (await lead.get(`/codelabs/${lab.id}/inline-comments`)).filter((t) => t.target_step_id === lab.steps[1].id)
  assert.equal(answered.messages.at(-1).message, '8080')
  await side.getByRole('button', { name: 'Mark all as read' }).click()
  await until('the tab to show no new comments', async () => (await tab.textContent()).trim() === 'Comments')
  await page.reload()
  await connected(page)
  await still(page)
  assert.equal((await tab.textContent()).trim(), 'Comments')
})

long('sent quiz answers are not listed as unsent, and boxes can be written in both forms', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ quiz_enabled: true, steps: ['# One\n\nPositive\n: Well done\n\n> aside negative\n> Mind this'] })
  await lead.put(`/codelabs/${lab.id}/quizzes`, [
    { question: 'Which?', quiz_type: 'multiple_choice', options: ['a', 'b', 'c'], correct_answers: [0, 2] },
    { question: 'Why?', quiz_type: 'descriptive' },
  ])
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann })
  guest.expect(/status of 40[14]/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await connected(page)
  assert.equal((await page.locator('aside.positive').textContent()).trim(), 'Well done')
  assert.equal((await page.locator('aside.negative').textContent()).trim(), 'Mind this')
  await page.getByRole('button', { name: /Quiz/ }).first().click()
  await page.getByLabel('a', { exact: true }).check()
  await page.getByLabel('c', { exact: true }).check()
  await page.getByLabel('Your answer').fill('Because')
  await page.getByRole('button', { name: 'Send answers' }).click()
  await page.getByRole('status').filter({ hasText: 'right' }).waitFor()
  // The chosen answers are still selected after a reload. Once the person is removed, no answer
  // counts as unsent.
  await page.reload()
  await page.getByLabel('c', { exact: true }).waitFor()
  assert.equal(await page.getByLabel('c', { exact: true }).isChecked(), true)
  await page.getByLabel('b', { exact: true }).check()
  await lead.delete(`/codelabs/${lab.id}/attendees/${ann.id}`)
  await page.getByRole('alert').first().waitFor()
  assert.equal(await page.getByText('[0').count(), 0)
  assert.equal(await page.getByText('Because').count(), 0)
})

test('the line of notices stays low, does not hide the focus or move the text, and stays during typing', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator('Lea')
  const links = Array.from({ length: 40 }, (_, i) => `A line with [link ${i + 1}](https://example.com/${i}).`).join('\n\n')
  const lab = await lead.codelab({ steps: [`# One\n\n${links}`, '# Two'] })
  const ann = await person(lab, 'Attendee 1')
  for (const [viewport, most] of [
    [{ width: 1280, height: 800 }, 0.25],
    [{ width: 375, height: 812 }, 0.4],
  ]) {
    const { page } = await visitor({ as: ann, viewport })
    await page.goto(`/codelabs/${lab.id}`)
    if (viewport.width > 640) await connected(page)
    else await page.locator('nav.below').waitFor()
    await still(page)
    const line = page.getByRole('region', { name: 'Notices' })
    const heading = page.getByRole('heading', { name: 'One', exact: true })
    const before = await heading.boundingBox()
    const low = async (what) => {
      await still(page)
      // The limit is a quarter of the text column's height, and two fifths on a phone.
      const height = await line.evaluate((e) => e.offsetHeight)
      const whole = viewport.width < 640 ? viewport.height : await page.getByRole('main').evaluate((e) => e.clientHeight)
      assert.ok(height <= whole * most, `${what}: got ${height} of ${whole} pixels, want at most a share of ${most}, in a window of ${viewport.width} pixels`)
      assert.deepEqual(await heading.boundingBox(), before, `${what} moves the text`)
    }

    // A poll with five answers is open in the line.
    const made = await lead.post(`/codelabs/${lab.id}/polls`, {
      kind: 'choice',
      question: 'Have you used channels before?',
      options: ['Never', 'Once', 'A few times', 'Often', 'Daily'],
    })
    await lead.post(`/codelabs/${lab.id}/polls/${made.id}/open`, {})
    await line.getByText('Daily').waitFor()
    await low('a poll')

    // The element with the focus is visible above the line.
    const last = page.getByRole('link', { name: 'link 40' })
    await page.getByRole('link', { name: 'link 20', exact: true }).focus()
    for (let i = 20; i < 40; i++) await page.keyboard.press('Tab')
    assert.ok(await last.evaluate((e) => e === document.activeElement))
    const [focused, top] = [await last.boundingBox(), (await line.boundingBox()).y]
    assert.ok(focused.y + focused.height <= top, `the line covers the focus at ${viewport.width} pixels`)
    await page.getByRole('main').evaluate((e) => e.scrollTo(0, 0))
    await page.evaluate(() => scrollTo(0, 0))

    // A direct message is more urgent. While it is answered a broadcast only raises the count.
    await lead.say(lab, { type: 'dm', target_id: ann.id, message: 'Which line does the error name?' })
    const field = line.getByRole('textbox')
    await field.waitFor()
    await low('a direct message')
    await field.fill('The 14')
    await lead.say(lab, { type: 'broadcast', message: 'A break until ten. '.repeat(60) })
    await line.getByRole('button', { name: '2 more notices' }).waitFor()
    assert.equal(await field.inputValue(), 'The 14')
    assert.ok(await field.evaluate((e) => e === document.activeElement), 'the field has lost the focus')
    await field.press('Enter')
    await line.getByText('To everybody').waitFor()
    await low('a broadcast')
    await line.getByRole('button', { name: 'Seen' }).click()
    await lead.post(`/codelabs/${lab.id}/polls/${made.id}/close`)
  }
})
