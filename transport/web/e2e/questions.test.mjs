// Asking, voting for, moderating, answering and merging questions. The list does not move while in
// use.
import assert from 'node:assert/strict'
import { accessible, inFirefox, stage, until } from './harness/stage.mjs'

const { test, long } = stage({ env: { ATELIER_LIMITS_QUESTIONS_SECONDS: '0' } })
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const wide = { viewport: { width: 1440, height: 900 } }

/** Creates a codelab with questions on. */
const asking = (lead, questions = 'open') => lead.codelab({ questions }).then(async (lab) => (await lead.put(`/codelabs/${lab.id}`, { questions }), lab))

/** Opens the questions on the page of an attendee. */
async function panel(visitor, person, lab, options = wide) {
  const guest = await visitor({ as: person, ...options })
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('heading', { name: 'One' }).waitFor()
  if (options === phone) await page.getByRole('navigation', { name: 'Steps, chat and help' }).getByRole('button', { name: 'Chat' }).tap()
  await page.getByRole('tab', { name: 'Q&A' }).click()
  await page.getByLabel('Ask a question').waitFor()
  return page
}

/** Opens the questions in the live view of a facilitator. */
async function desk(visitor, lead, lab) {
  const { page } = await visitor({ as: lead, ...wide })
  await page.goto(`/admin/${lab.id}`)
  await page.getByRole('tab', { name: /^Questions/ }).click()
  return page
}

const list = (page) => page.getByRole('list', { name: 'Questions' })
const row = (page, text) => list(page).getByRole('listitem').filter({ hasText: text })
const order = (page) => list(page).locator('.question > .text').allTextContents()

test('a question is asked, voted for with one tap, and answered', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await asking(lead)
  const [ann, ben] = [await person(lab, 'Ann'), await person(lab, 'Ben')]
  const page = await panel(visitor, ann, lab, phone)
  await page.getByText('No questions yet').waitFor()
  await accessible(page)
  await page.getByLabel('Ask a question').fill('Does it work on Windows?')
  await accessible(page)
  await page.getByRole('button', { name: 'Ask', exact: true }).tap()
  await row(page, 'Does it work on Windows?').getByText('yours').waitFor()
  // Nobody can vote for their own question.
  assert.equal(
    await row(page, 'Windows')
      .getByRole('button', { name: /^Vote for/ })
      .count(),
    0,
  )

  const other = await panel(visitor, ben, lab, phone)
  const vote = row(other, 'Windows').getByRole('button', { name: /^Vote for/ })
  await vote.tap()
  await until('the vote button to be pressed', async () => (await vote.getAttribute('aria-pressed')) === 'true')
  await row(page, 'Windows').getByText('1 vote', { exact: true }).waitFor({ state: 'attached' })
  await accessible(other)

  const boss = await desk(visitor, lead, lab)
  await row(boss, 'Windows').getByText('Ann').waitFor()
  await row(boss, 'Windows').getByRole('button', { name: 'Answer', exact: true }).click()
  await boss.getByLabel('Answer', { exact: true }).fill('Yes, in WSL.')
  await accessible(boss)
  await boss.getByRole('button', { name: 'Send the answer' }).click()
  await page.getByRole('region', { name: 'Notices' }).getByText('Your question has been answered.').waitFor()
  // On a touch screen rows never move, so a new answer waits until the person asks to see it.
  if (!inFirefox) await page.getByRole('button', { name: 'Sort again' }).tap()
  await row(page, 'Windows').getByText('Yes, in WSL.').waitFor()
  await accessible(page)
  await row(boss, 'Windows').getByText('answered').waitFor()
})

long('the list does not move under a pointer, a focus or a finger', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await asking(lead)
  const people = await Promise.all([1, 2, 3, 4].map((n) => person(lab, `Attendee ${n}`)))
  const ask = (i, text) => people[i].post(`/codelabs/${lab.id}/questions`, { text })
  const [one, two] = [await ask(0, 'The first?'), await ask(1, 'The second?')]
  const vote = (i, q) => people[i].put(`/codelabs/${lab.id}/questions/${q.id}/vote`, {})
  const page = await panel(visitor, people[3], lab)
  await row(page, 'The second?').waitFor()
  assert.deepEqual(await order(page), ['The first?', 'The second?'])

  // While nobody uses the list, it follows the votes.
  await vote(0, two)
  await until('the list to be sorted', async () => (await order(page))[0] === 'The second?')

  // While somebody points at the list, the numbers change but no row moves.
  await row(page, 'The first?').hover()
  await vote(1, one)
  await vote(2, one)
  await ask(2, 'The third?')
  await row(page, 'The first?')
    .getByRole('button', { name: /2 votes/ })
    .waitFor()
  await page.getByRole('button', { name: '1 new: sort again' }).waitFor()
  assert.deepEqual(await order(page), ['The second?', 'The first?'])
  const before = await row(page, 'The first?').boundingBox()
  await lead.delete(`/codelabs/${lab.id}/questions/${two.id}`)
  await row(page, 'The second?').getByText('no longer exists').waitFor()
  assert.equal((await row(page, 'The first?').boundingBox()).y, before.y, 'a row has moved under the pointer')
  await accessible(page)
  // A click sorts the list.
  await page.getByRole('button', { name: '1 new: sort again' }).click()
  await until('the list to be sorted', async () => (await order(page)).join() === 'The first?,The third?')

  // The list also stays unchanged while the focus is in it.
  const button = row(page, 'The third?').getByRole('button', { name: /^Vote for/ })
  await page.mouse.move(5, 400)
  await button.focus()
  await ask(1, 'The fourth?')
  await page.getByRole('button', { name: '1 new: sort again' }).waitFor()
  assert.equal((await order(page)).length, 2)
  assert.ok(await button.evaluate((e) => e === document.activeElement))
  // When nobody uses the list any more, it is sorted again automatically.
  await page.getByLabel('Ask a question').focus()
  await until('the list to be sorted', async () => (await order(page)).length === 3)
})

long('checked questions are hidden from other attendees until a facilitator shows them', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await asking(lead, 'checked')
  const [ann, ben] = [await person(lab, 'Ann'), await person(lab, 'Ben')]
  const page = await panel(visitor, ann, lab)
  const other = await panel(visitor, ben, lab)
  await page.getByText('A facilitator checks it before others see it.').waitFor()
  await page.getByLabel('Ask a question').fill('What is a slice?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await row(page, 'What is a slice?').getByText('waiting for a facilitator').waitFor()
  const boss = await desk(visitor, lead, lab)
  await boss.getByRole('tab', { name: 'Questions (1)' }).waitFor()
  // Messages arrive in order, so the question would arrive before this broadcast.
  await lead.say(lab, { type: 'broadcast', message: 'Look here' })
  await other.getByRole('region', { name: 'Notices' }).getByText('Look here').waitFor()
  assert.equal(await row(other, 'What is a slice?').count(), 0)
  await accessible(boss)
  await row(boss, 'What is a slice?').getByRole('button', { name: 'Show to everybody' }).click()
  await row(other, 'What is a slice?').waitFor()
  await boss.mouse.move(5, 400)
  await row(boss, 'What is a slice?').getByRole('button', { name: 'Answered aloud' }).click()
  await row(other, 'What is a slice?').getByText('answered aloud').waitFor()

  // Authors can delete their own question until it is answered.
  await page.getByLabel('Ask a question').fill('And an array?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await row(page, 'And an array?').getByRole('button', { name: 'Delete' }).click()
  await until('the question to be removed', async () => (await lead.get(`/codelabs/${lab.id}/questions`)).length === 1)
})

long('nobody sees who asked an anonymous question, but its author can be blocked', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await asking(lead)
  const ann = await person(lab, 'Ann')
  const guest = await visitor({ as: ann, ...wide })
  guest.expect(/403|409/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('tab', { name: 'Q&A' }).click()
  await page.getByLabel('Without my name').check()
  await page.getByText('Nobody in the workshop sees who asked.').waitFor()
  await page.getByLabel('Ask a question').fill('Is this a stupid question?')
  await page.reload()
  await page.getByText('Nobody in the workshop sees who asked.').waitFor() // after the reload the question is still anonymous
  assert.equal(await page.getByLabel('Ask a question').inputValue(), 'Is this a stupid question?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await row(page, 'stupid').getByText('yours').waitFor()
  const boss = await desk(visitor, lead, lab)
  await row(boss, 'stupid').getByText('anonymous').waitFor()
  assert.equal(await boss.locator('.side').getByText('Ann').count(), 0)
  // After a reload, the page still shows which question is the person's own.
  await page.reload()
  await row(page, 'stupid').getByText('yours').waitFor()
  await row(boss, 'stupid')
    .getByRole('button', { name: /^More for/ })
    .click()
  await boss.getByRole('menuitem', { name: 'Block its author' }).click()
  await accessible(boss)
  await boss.getByRole('dialog').getByRole('button', { name: 'Block', exact: true }).click()
  await boss.getByText('The author is blocked.').waitFor()
  await page.getByLabel('Ask a question').fill('Another one?')
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await page.getByRole('alert').or(page.locator('.toast')).first().waitFor()
  assert.equal(await page.getByLabel('Ask a question').inputValue(), 'Another one?', 'the typed text is lost')
})

long('questions are merged, hidden, taken from chat and help, and put on the projector', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await asking(lead)
  const [ann, ben] = [await person(lab, 'Ann'), await person(lab, 'Ben')]
  await ann.post(`/codelabs/${lab.id}/questions`, { text: 'Why 404?' })
  await ben.post(`/codelabs/${lab.id}/questions`, { text: 'Why is it not found?' })
  await ann.say(lab, { type: 'chat', message: 'Which version do we use?' })
  await ben.post(`/codelabs/${lab.id}/help`, { step_number: 1, message: 'Ben here, my password is not taken' })
  const boss = await desk(visitor, lead, lab)

  await row(boss, 'Why is it not found?')
    .getByRole('button', { name: /^More for/ })
    .click()
  await boss.getByRole('menuitem', { name: 'Merge with another one' }).click()
  await boss.getByRole('radio', { name: 'Why 404?' }).check()
  await accessible(boss)
  await boss.getByRole('button', { name: 'Merge', exact: true }).click()
  await boss.getByText('The questions are merged.').waitFor()
  await until('one question to be left', async () => (await lead.get(`/codelabs/${lab.id}/questions`)).length === 1)

  await boss.getByRole('tab', { name: 'Chat' }).click()
  await boss.getByRole('log').getByText('Which version').hover()
  await boss.getByRole('button', { name: 'Take it as a question', exact: true }).click()
  await boss.getByText('It was added to the questions.').waitFor()

  const help = boss.getByRole('region', { name: 'Help queue' })
  await help.getByRole('button', { name: 'Take', exact: true }).click()
  await help.getByRole('button', { name: /^More for/ }).click()
  await boss.getByRole('menuitem', { name: 'Take it as a question for everybody' }).click()
  await boss.getByRole('dialog').getByLabel('Question').fill('Which passwords are taken?')
  await accessible(boss)
  await boss.getByRole('button', { name: 'Take it', exact: true }).click()
  await boss.getByRole('dialog').waitFor({ state: 'detached' })
  await boss.getByRole('tab', { name: 'Questions' }).click()
  await row(boss, 'Which version do we use?').getByText('Ann').waitFor()
  await row(boss, 'Which passwords are taken?').getByText('anonymous').waitFor()

  const wall = (await visitor({ as: lead, viewport: { width: 1280, height: 720 } })).page
  await wall.goto(`/admin/${lab.id}/projector`)
  await wall.getByText('Scan, or open').waitFor()
  await row(boss, 'Which passwords').getByRole('button', { name: 'Projector', exact: true }).click()
  await wall.getByText('Which passwords are taken?').waitFor()
  assert.equal(await wall.getByText('Ben').count(), 0)
  await accessible(wall)
  // A hidden question disappears from the projector. The facilitator still sees it.
  await row(boss, 'Which passwords')
    .getByRole('button', { name: /^More for/ })
    .click()
  await boss.getByRole('menuitem', { name: 'Hide' }).click()
  await wall.getByText('Scan, or open').waitFor()
  await boss.mouse.move(5, 400)
  await boss.getByText('1 hidden', { exact: true }).click()
  await accessible(boss)
})

long('questions can be switched off in the settings of a codelab, and stay readable', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const reader = (await visitor({ as: ann, ...wide })).page
  await reader.goto(`/codelabs/${lab.id}`)
  await reader.getByRole('tab', { name: 'Chat' }).waitFor()
  assert.equal(await reader.getByRole('tab', { name: 'Q&A' }).count(), 0)
  const office = (await visitor({ as: lead, ...wide })).page
  await office.goto(`/admin/${lab.id}/settings/questions`)
  await office.getByLabel('Everybody sees a question at once').check()
  await office.getByLabel('Attendees may ask without their name').uncheck()
  await accessible(office)
  await office.getByRole('button', { name: 'Save' }).first().click()
  await reader.getByRole('tab', { name: 'Q&A' }).click()
  await reader.getByLabel('Ask a question').fill('Where are the slides?')
  assert.equal(await reader.getByLabel('Without my name').count(), 0)
  await reader.getByRole('button', { name: 'Ask', exact: true }).click()
  await row(reader, 'slides').waitFor()
  await lead.put(`/codelabs/${lab.id}`, { questions: 'off' })
  await reader.getByLabel('Ask a question').waitFor({ state: 'detached' })
  await row(reader, 'slides').waitFor()
  await office.goto(`/admin/${lab.id}/results`)
  await office.getByRole('tab', { name: 'Questions', exact: true }).click()
  await office.getByText('Where are the slides?').waitFor()
  await accessible(office)
})
