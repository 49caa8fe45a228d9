// A whole workshop with a facilitator and three attendees in separate browsers, from the import of
// a codelab to a valid certificate.
import assert from 'node:assert/strict'
import { stage, until } from './harness/stage.mjs'

const { test } = stage()

const codelab = new URL('./first-service/codelab.md', import.meta.url).pathname

test('a facilitator and three attendees hold a workshop', async ({ visitor, facilitator }) => {
  const boss = await visitor({ as: await facilitator('Grace'), viewport: { width: 1440, height: 900 } })
  const rest = await facilitator('Looker-on')
  const { page } = boss

  // A facilitator imports a codelab, and opens the live view.
  await page.goto('/admin')
  await page.getByRole('heading', { level: 1, name: 'Nothing here yet' }).waitFor()
  await page.locator('input[type=file]').first().setInputFiles(codelab)
  const lab = await until('the codelab to exist', async () => (await rest.get('/codelabs'))[0])
  const [, steps] = await rest.get(`/codelabs/${lab.id}`)
  assert.ok(steps.length >= 3, 'the codelab has fewer than three steps')
  await page.goto(`/admin/${lab.id}`)
  await page.getByText('Nobody has joined yet').waitFor()

  // Three attendees join with the displayed code, one of them on a phone.
  const code = lab.join_code
  await page
    .getByText(code.slice(0, 3) + ' ' + code.slice(3), { exact: true })
    .first()
    .waitFor()
  const people = []
  for (const [i, options] of [
    {},
    { viewport: { width: 720, height: 900 } },
    { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true },
  ].entries()) {
    const v = await visitor(options)
    people.push(v)
    await v.page.goto(`/j/${code}`)
    await v.page.getByLabel('Your name').fill(`Attendee ${i + 1}`)
    await v.page.getByRole('button', { name: 'Join', exact: true }).click()
    await v.page.getByRole('heading', { level: 2, name: steps[0].title }).waitFor()
  }
  const [one, two, phone] = people.map((v) => v.page)
  await page.getByText('3 of 3 here').waitFor()

  // The attendees move and set their moods, and the facilitator sees both within a moment.
  await one.keyboard.press('j')
  await two.keyboard.press('j')
  await page
    .getByText('2 of 3 are past step 1.')
    .or(page.getByText(/are past step 2/))
    .waitFor()
  await phone.getByRole('button', { name: 'Stuck' }).click()
  const cell = page.getByTitle(/^Attendee 3, Stuck/)
  await cell.waitFor()

  // A facilitator offers help to an attendee who has not asked, and ends it.
  await cell.click()
  await page.getByRole('button', { name: 'Offer help' }).click()
  await phone.getByText('Grace is on the way').waitFor()
  await page.keyboard.press('Escape')
  await page.getByText('with you', { exact: false }).first().waitFor()
  await page.getByRole('button', { name: 'Solved', exact: true }).click()
  await phone.getByText('Grace is on the way').waitFor({ state: 'detached' })

  // An attendee asks for help, a facilitator claims the request, and the attendee marks it as
  // solved.
  await one.keyboard.press('h')
  await one.getByLabel(/What is it about/).fill('It does not start')
  await one.getByRole('dialog').getByRole('button', { name: 'Ask for help' }).click()
  await page.getByText('It does not start').first().waitFor()
  await page.getByRole('button', { name: 'Take', exact: true }).click()
  await one.getByText('Grace is on the way').waitFor()
  await one.getByRole('button', { name: 'It is solved' }).click()
  await page.getByText('Nobody is waiting for help.').waitFor()

  // People use the chat, a direct message, a prepared hint, a broadcast and a pinned note.
  await two.getByRole('button', { name: 'Chat' }).first().click()
  await two.getByLabel('Write to everybody').fill('Where is the template?')
  await two.keyboard.press('Enter')
  await page.getByRole('log').getByText('Where is the template?').waitFor()
  const field = page.getByLabel('Write to everybody')
  await field.fill('In the first step')
  await field.press('Enter')
  await two.getByRole('log').getByText('In the first step').waitFor()
  await page.getByTitle(/^Attendee 2,/).click()
  await page.getByRole('button', { name: 'Send a prepared hint' }).click()
  await page.getByRole('menuitem', { name: 'A hint to keep' }).click()
  await page.getByLabel('A hint to keep').fill('Look at the path')
  await page.getByRole('button', { name: 'Keep' }).click()
  await page.getByRole('dialog', { name: 'Prepared hints' }).locator('footer').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'Send a prepared hint' }).click()
  await page.getByRole('menuitem', { name: 'Look at the path' }).click()
  await page.getByRole('dialog', { name: 'Attendee 2' }).press('Escape')
  // The message and its answer can be answered where they are shown.
  const notice = two.getByRole('region', { name: 'Notices' })
  await notice.getByText('Look at the path').waitFor()
  await notice.getByLabel(/^Answer to /).fill('Found it')
  await two.keyboard.press('Enter')
  await notice.getByText('Look at the path').waitFor({ state: 'detached' })
  const unanswered = page.getByRole('group', { name: 'Direct message from Attendee 2' })
  await unanswered.getByText('Found it').waitFor()
  await unanswered.getByRole('button', { name: 'Reply' }).click()
  await unanswered.getByLabel('Write to Attendee 2').fill('Good')
  await page.keyboard.press('Enter')
  await unanswered.waitFor({ state: 'detached' })
  await field.fill('A break until ten')
  await page.getByRole('button', { name: 'How it is sent' }).click()
  await page.getByRole('menuitemradio', { name: 'Read out to everybody' }).click()
  await page.getByRole('button', { name: 'Read out to everybody' }).click()
  for (const p of [one, two, phone]) await p.getByRole('region', { name: 'Notices' }).getByText('A break until ten').waitFor()
  await field.fill('Lunch at noon')
  await page.getByRole('button', { name: 'How it is sent' }).click()
  await page.getByRole('menuitemradio', { name: 'Pin above the chat' }).click()
  await page.getByRole('button', { name: 'Pin above the chat' }).click()
  await one.getByText('Pinned · Lunch at noon').waitFor()

  // The facilitator moves everybody to another step.
  await page.getByRole('button', { name: /^Bring everybody to step/ }).click()
  await until('the pointer to move', async () => (await rest.get(`/codelabs/${lab.id}`))[0].pointer?.step_number > 1)

  // A person is renamed and muted.
  await page.getByTitle(/^Attendee 2,/).click()
  await page.getByRole('button', { name: 'More for Attendee 2' }).click()
  await page.getByRole('menuitem', { name: 'Rename' }).click()
  await page.getByRole('dialog').getByLabel('Rename').fill('Attendee B')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('heading', { name: 'Attendee B' }).waitFor()
  await page.getByRole('button', { name: 'More for Attendee B' }).click()
  await page.getByRole('menuitem', { name: 'Mute in the chat' }).click()
  await until('the attendee to be muted', async () => (await rest.get(`/codelabs/${lab.id}/attendees`)).some((a) => a.name === 'Attendee B' && a.muted))
  await page.getByRole('dialog', { name: 'Attendee B' }).press('Escape')
  await two.getByText('A facilitator has muted you').waitFor()

  // The requirements are switched off. An attendee completes the codelab and opens the certificate.
  const done = async (p) => {
    const own = await p.evaluate(async (id) => (await (await fetch(`/api/session?codelab_id=${id}`)).json()).sub, lab.id)
    return own
  }
  const id = await done(one)
  const [record] = await rest.get(`/codelabs/${lab.id}`)
  await rest.put(`/codelabs/${lab.id}`, { ...record, require_quiz: false, require_feedback: false, require_submission: false })
  await one.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Complete' }).click()
  await one.getByRole('button', { name: 'Complete the codelab' }).click()
  await one.getByRole('link', { name: 'To your certificate' }).click()
  await one.getByText('has completed').waitFor()
  await page.getByRole('region', { name: 'Done' }).getByText('1 person').waitFor()
  const stranger = await visitor()
  await stranger.page.goto(`/verify/${id}`)
  await stranger.page.getByText('This certificate is valid.').waitFor()

  // The workshop ends.
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'End the workshop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('The workshop has ended.').waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Open again' }).waitFor()
  // The page shows the server's figures. The number of people here can still change.
  await until("the page to show the server's figures", async () => {
    const { completed, online, attendees } = await rest.get(`/codelabs/${lab.id}/overview`)
    assert.equal(completed, 1)
    return page.getByText(`${online} of ${attendees} here`).isVisible()
  })
})
