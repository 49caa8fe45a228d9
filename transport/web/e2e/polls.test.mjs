// Polls are written by facilitators, answered with one tap, and shown on the projector.
import assert from 'node:assert/strict'
import { accessible, stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const text = `# One\n\n${'A line of the text that is being read. '.repeat(120)}`

/** Opens the live view with the panel of polls. */
async function desk(visitor, lead, lab) {
  const boss = await visitor({ as: lead, viewport: { width: 1440, height: 900 } })
  await boss.page.goto(`/admin/${lab.id}`)
  await boss.page.getByRole('tab', { name: 'Polls' }).click()
  await boss.page.getByRole('button', { name: 'New poll' }).waitFor()
  return boss.page
}

/** Writes a poll and opens it. */
async function write(page, lines, more = async () => {}) {
  await page.getByRole('button', { name: 'New poll' }).click()
  await page.getByLabel('Question and answers').fill(lines)
  await more()
  await page.getByRole('button', { name: 'Open now' }).click()
  await page.getByRole('button', { name: 'Close', exact: true }).waitFor()
}

/** Opens the text as a person, on a phone unless the options contain another size. */
async function reader(visitor, person, lab, options = phone) {
  const guest = await visitor({ as: person, ...options })
  await guest.page.goto(`/codelabs/${lab.id}`)
  await guest.page.getByRole('heading', { name: 'One' }).waitFor()
  return guest.page
}
const strip = (page) => page.getByRole('region', { name: 'Notices' })

/** Opens the polls beside the text, on a phone. Returns the poll with this question. */
async function polls(page, question) {
  if (!(await page.getByRole('tab', { name: /^Polls/ }).isVisible()))
    await page.getByRole('navigation', { name: 'Steps, chat and help' }).getByRole('button', { name: 'Chat' }).tap()
  await page.getByRole('tab', { name: /^Polls/ }).tap()
  return page.locator('aside').locator(`[aria-label="${question}"]:is(section, details)`)
}

test('a poll is written, answered with one tap beside the text, changed, closed and shown', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: [text, '# Two\n\nMore.'] })
  const [ann, ben] = [await person(lab, 'Ann'), await person(lab, 'Ben')]
  const page = await reader(visitor, ann, lab)
  await reader(visitor, ben, lab)
  await still(page)
  const main = page.locator('main')
  await main.evaluate((e) => (e.scrollTop = 300))
  await page.evaluate(() => document.querySelector('main').focus())
  const firstLine = () =>
    page
      .locator('article p')
      .nth(1)
      .evaluate((e) => e.getBoundingClientRect().top)
  const before = await firstLine()

  const boss = await desk(visitor, lead, lab)
  await accessible(boss)
  await boss.getByRole('button', { name: 'New poll' }).click()
  await boss.getByLabel('Question and answers').fill('Tea or coffee?\n- Tea')
  await boss.getByText('Write at least two answers').waitFor()
  await boss.getByLabel('Question and answers').fill('Tea or coffee?\n- Tea\n- [x] Coffee')
  await boss.getByText('This is how people see it').waitFor()
  await accessible(boss)
  await boss.getByRole('button', { name: 'Open now' }).click()

  // The poll appears next to the text: nothing moves, the focus stays, and the poll is announced.
  await strip(page).getByRole('button', { name: 'Coffee' }).waitFor()
  assert.equal(await firstLine(), before, 'the text has moved')
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'MAIN', 'the focus has moved from the text')
  await page.locator('[aria-live=polite]', { hasText: 'Poll: Tea or coffee?' }).waitFor()
  await accessible(page)

  await strip(page).getByRole('button', { name: 'Tea' }).tap()
  await strip(page).getByText('You said Tea').waitFor()
  assert.equal(await firstLine(), before)
  // The poll then takes one line, and the focus is in the line.
  assert.ok((await strip(page).boundingBox()).height <= 53)
  await until('the line to contain the focus', () => strip(page).evaluate((e) => e.contains(document.activeElement)))
  await boss.getByText('1 of 2 have answered').waitFor()
  // The facilitator sees who has not answered a named poll.
  await boss.getByText('No answer yet').click()
  await boss.getByRole('listitem').filter({ hasText: /^Ben$/ }).waitFor()

  await strip(page).getByRole('button', { name: 'Change' }).tap()
  await strip(page).getByRole('button', { name: 'Coffee' }).tap()
  await strip(page).getByText('You said Coffee').waitFor()
  const beside = await polls(page, 'Tea or coffee?')
  await beside.getByRole('button', { name: 'Take back' }).tap()
  await beside.getByRole('button', { name: 'Tea' }).waitFor()
  await beside.getByRole('button', { name: 'Coffee' }).tap()
  await beside.getByText('Your answer: Coffee').waitFor()
  assert.equal(await beside.locator('ul').count(), 0, 'counts are visible before the facilitator shows them')

  await boss.getByRole('button', { name: 'Show', exact: true }).click()
  await beside.locator('ul').waitFor()
  assert.equal(await beside.getByText('right', { exact: true }).count(), 0, 'the right answer is visible while the poll is open')
  await page.getByRole('button', { name: 'Close the panel' }).tap()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()
  await strip(page).getByText('100% Coffee').waitFor()
  await accessible(page)
  await accessible(boss)
  await strip(page).getByRole('button', { name: 'See all' }).tap()
  await beside.getByText('right', { exact: true }).waitFor()
  await beside.getByText('your answer', { exact: true }).waitFor()
  await accessible(page)

  // After a reload the result is only in the panel.
  await page.reload()
  await (await polls(page, 'Tea or coffee?')).getByText('your answer').waitFor()
  assert.equal(await strip(page).count(), 0)
  await accessible(page)
})

long('an open poll leaves two thirds of a small phone for the text', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: [text] })
  const small = { ...phone, viewport: { width: 375, height: 667 } }
  const page = await reader(visitor, await person(lab, 'Ann'), lab, small)
  for (const [question, options] of [
    ['How often do you write Go?', ['Every day', 'Each week', 'Now and then', 'Once', 'Never']],
    [
      'Which of the ways to wait for several goroutines do you use, when they may fail?',
      ['', '', '', '', ''].map((_, i) => `${i} an answer as long as it gets`.slice(0, 26)),
    ],
  ]) {
    const { id } = await lead.post(`/codelabs/${lab.id}/polls`, {
      kind: 'choice',
      question,
      options,
    })
    await lead.post(`/codelabs/${lab.id}/polls/${id}/open`, {})
    const line = strip(page)
    await line.getByRole('button', { name: options[4] }).waitFor()
    await still(page)
    assert.ok((await line.boundingBox()).height <= 667 / 3, `the poll is ${(await line.boundingBox()).height} pixels high, want at most a third of 667`)
    for (const option of options) {
      const at = await line.getByRole('button', { name: option }).boundingBox()
      assert.ok(at.height >= 44 && at.width >= 44, `${option}: got ${at.width} x ${at.height}, want at least 44 x 44`)
    }
    // The last answer can be scrolled into view, and the question stays visible.
    await line.getByRole('button', { name: options[4] }).scrollIntoViewIfNeeded()
    const [words, whole] = [await line.getByText(question).boundingBox(), await line.boundingBox()]
    assert.ok(words.y >= whole.y && words.y + words.height <= whole.y + whole.height, 'the question is not visible')
    await line.getByRole('button', { name: options[4] }).tap()
    await line.getByText(`You said ${options[4]}`).waitFor()
    await lead.post(`/codelabs/${lab.id}/polls/${id}/close`)
  }
})

long('an anonymous poll is marked before the vote, hides all answers while it is open, and cannot be reopened', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const people = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => person(lab, `Attendee ${n}`)))
  const boss = await desk(visitor, lead, lab)
  await write(boss, 'Is the pace right?\n- too slow\n- fine\n- too fast', () => boss.getByLabel('Anonymous').check())
  const page = await reader(visitor, people[0], lab)
  // The notice before an anonymous answer needs more than a line, so the poll opens beside the
  // text.
  await strip(page).getByRole('button', { name: 'Answer' }).tap()
  await page.getByRole('tab', { name: /^Polls/ }).waitFor()
  const beside = await polls(page, 'Is the pace right?')
  await beside.getByText('Once the poll is closed, nobody here can tell who answered what').waitFor()
  await accessible(page)
  await beside.getByRole('button', { name: 'too fast' }).tap()
  await beside.getByText('Your vote is in.').waitFor()
  await page.getByRole('button', { name: 'Close the panel' }).tap()
  await strip(page).getByText('Your vote is in.').waitFor()
  assert.equal(
    await strip(page)
      .getByRole('button', { name: /Change|Take back/ })
      .count(),
    0,
  )
  // Not even the selected answer is visible to somebody nearby.
  assert.equal(await strip(page).getByText('too fast').count(), 0)
  const { id } = (await lead.get(`/codelabs/${lab.id}/polls`))[0]
  for (const [i, p] of people.slice(1).entries()) await p.put(`/codelabs/${lab.id}/polls/${id}/vote`, { round: 1, choice: [i % 2] })
  await boss.getByText('6 of 6 have answered').waitFor()
  await boss.getByText('Sealed until it is closed').waitFor()
  assert.equal(await boss.getByText('No answer yet').count(), 0)
  await page.reload()
  await strip(page).getByText('Your vote is in.').waitFor()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()
  await page.locator('[aria-live=polite]', { hasText: 'The poll is closed.' }).waitFor()
  await strip(page).waitFor({ state: 'detached' })
  const row = boss.getByRole('listitem').filter({ hasText: 'too slow' })
  await row.getByText('50%').waitFor()
  await boss.getByRole('button', { name: 'Show', exact: true }).click()
  await strip(page).getByText('50% too slow').waitFor()
  await strip(page).getByRole('button', { name: 'See all' }).tap()
  await page.locator('aside').getByRole('listitem').filter({ hasText: 'too fast' }).getByText('17%').waitFor()
  // The poll can be deleted, but not opened again.
  await boss.getByRole('button', { name: 'More for' }).click()
  await boss.getByRole('menuitem', { name: 'Delete' }).waitFor()
  assert.equal(await boss.getByRole('menuitem', { name: 'Open again' }).count(), 0)
})

long('with fewer than five votes there is no result, and a text explains that', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const boss = await desk(visitor, lead, lab)
  await write(boss, 'Q?\n- a\n- b', () => boss.getByLabel('Anonymous').check())
  const page = await reader(visitor, ann, lab)
  const beside = await polls(page, 'Q?')
  await beside.getByRole('button', { name: 'a', exact: true }).tap()
  await beside.getByText('Your vote is in.').waitFor()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()
  await boss.getByText('No result: there are fewer than five answers').waitFor()
  await boss.getByRole('button', { name: 'Show', exact: true }).click()
  await beside.getByText('No result: there are fewer than five answers').waitFor()
  await accessible(page)
})

long('a scale, words, several answers and a text are answered on a phone', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const boss = await desk(visitor, lead, lab)
  const page = await reader(visitor, ann, lab)
  const fits = async () => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the phone')
  const kind = (name) => () => boss.getByRole('radio', { name }).check()

  await write(boss, 'How sure are you?', kind('Scale'))
  await strip(page).getByRole('button', { name: '4', exact: true }).waitFor()
  await strip(page).getByRole('button', { name: '1: not at all' }).waitFor()
  await accessible(page)
  await fits()
  await strip(page).getByRole('button', { name: '5: completely' }).tap()
  await strip(page).getByText('You said 5: completely').waitFor()
  await boss.getByText('Mean: 5 of 5').waitFor()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()

  // Polls with more than a few short answers open beside the text.
  await write(boss, 'What comes to mind?', kind('Words'))
  await strip(page).getByRole('button', { name: 'Answer' }).tap()
  const beside = () => page.locator('aside')
  await beside().getByLabel('Word 1').fill('Go')
  await beside().getByLabel('Word 3').fill('channels')
  await accessible(page)
  await beside().getByRole('button', { name: 'Send' }).tap()
  await beside().getByText('Your answer: Go, channels').waitFor()
  await boss.getByRole('list', { name: 'The words' }).getByText('channels').waitFor()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()

  await write(boss, 'Which have you used?\n- Go\n- Rust\n- Java', kind('Several answers'))
  await beside().getByLabel('Go').check()
  await beside().getByLabel('Java').check()
  await accessible(page)
  await beside().getByRole('button', { name: 'Send' }).tap()
  await beside().getByText('Your answer: Go, Java').waitFor()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()

  await write(boss, 'What is unclear?', kind('Free text'))
  await beside().getByRole('textbox', { name: 'What is unclear?' }).fill('When a channel blocks.')
  await accessible(page)
  // Typed text that was not sent survives a reload.
  await page.reload()
  const again = await polls(page, 'What is unclear?')
  assert.equal(await again.getByRole('textbox', { name: 'What is unclear?' }).inputValue(), 'When a channel blocks.')
  await beside().getByRole('button', { name: 'Send' }).tap()
  await beside().getByText('Your answer: When a channel blocks.').waitFor()
  await boss.getByRole('list', { name: 'Answers' }).getByText('When a channel blocks.').waitFor()
  await accessible(boss)
  await page.getByRole('button', { name: 'Close the panel' }).tap()
  await strip(page).getByText('You said When a channel blocks.').waitFor()
  await fits()
})

long('a poll is written, answered, changed and closed with only the keyboard', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const boss = await desk(visitor, lead, lab)
  const page = await reader(visitor, ann, lab, { viewport: { width: 1280, height: 800 } })
  await boss.getByRole('button', { name: 'New poll' }).focus()
  await boss.keyboard.press('Enter')
  await boss.getByLabel('Question and answers').focus()
  await boss.keyboard.type('Tea or coffee?\n- Tea\n- Coffee')
  await boss.keyboard.press('Control+Enter')
  await boss.getByRole('button', { name: 'Close', exact: true }).waitFor()

  await strip(page).waitFor()
  await page.locator('main').focus()
  await page.keyboard.press('p')
  await until('the poll to have the focus', () => page.evaluate(() => document.activeElement.closest('#notices') !== null))
  const focused = () => page.evaluate(() => document.activeElement.textContent.trim())
  const tabTo = async (name) => {
    for (let i = 0; i < 8; i++) {
      await page.keyboard.press('Tab')
      if ((await focused()) === name) return
    }
    assert.fail(`Tab does not reach ${name}; the focus is on ${await focused()}`)
  }
  await tabTo('Coffee')
  assert.notEqual(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle), 'none', 'the focus is not visible')
  await page.keyboard.press('Enter')
  await strip(page).getByText('You said Coffee').waitFor()
  // The focused element is gone; the focus is still in the strip.
  await until('the strip to contain the focus', () => page.evaluate(() => document.querySelector('#notices').contains(document.activeElement)))
  if ((await focused()) !== 'Change') await tabTo('Change')
  await page.keyboard.press('Enter')
  await until('the strip to contain the focus', () => page.evaluate(() => document.activeElement.closest('#notices') !== null))
  if ((await focused()) !== 'Tea') await tabTo('Tea')
  await page.keyboard.press(' ')
  await strip(page).getByText('You said Tea').waitFor()

  await boss.getByRole('button', { name: 'Close', exact: true }).focus()
  await boss.keyboard.press('Enter')
  await boss.getByText('closed', { exact: true }).waitFor()
  // For a screen reader, the bars are numbers.
  await boss.getByRole('button', { name: 'Show', exact: true, disabled: false }).waitFor() // the response to the closing can come after the message
  await boss.getByRole('button', { name: 'Show', exact: true }).focus()
  await boss.keyboard.press('Enter')
  await strip(page).getByRole('button', { name: 'See all' }).focus()
  await page.keyboard.press('Enter')
  const beside = page.locator('aside')
  await beside.getByRole('listitem').first().waitFor()
  assert.match(await beside.ariaSnapshot(), /listitem: Tea your answer 1 100%/)
})

long('the projector shows the question and the number of votes, and the result only when it is shown to the room', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  const people = await Promise.all([1, 2, 3].map((n) => person(lab, `Attendee ${n}`)))
  const pages = await Promise.all(people.map((p) => reader(visitor, p, lab)))
  const boss = await desk(visitor, lead, lab)
  const wall = (await visitor({ as: lead, viewport: { width: 1280, height: 720 } })).page
  await wall.goto(`/admin/${lab.id}/projector`)
  await wall.getByText('3 people here').waitFor()
  await write(boss, 'Which of these do you use?\n- One\n- Two\n- Three\n- Four\n- Five\n- Six\n- Seven\n- Eight\n- Nine\n- [x] Ten')
  await boss.getByRole('button', { name: 'Projector', exact: true }).click()
  await wall.getByText('Which of these do you use?').waitFor()
  for (const [i, name] of ['Ten', 'Two'].entries()) {
    await strip(pages[i]).getByRole('button', { name: 'Answer' }).tap()
    await pages[i].locator('aside').getByRole('button', { name }).tap()
  }
  await wall.getByText('2 of 3 have answered').waitFor()
  assert.equal((await wall.getByText('50%').count()) + (await wall.getByText('right', { exact: true }).count()), 0)
  await accessible(wall)
  await boss.getByRole('button', { name: 'Show', exact: true }).click()
  await wall.getByText('50%').first().waitFor()
  assert.equal(await wall.getByText('right', { exact: true }).count(), 0, 'the right answer is visible before the poll is closed')
  // All ten options are visible without scrolling.
  const last = await wall.getByText('Ten', { exact: true }).boundingBox()
  assert.ok(last.y + last.height < 720 && last.height > 16, JSON.stringify(last))
  await boss.getByRole('button', { name: 'Close', exact: true }).click()
  await wall.getByText('right', { exact: true }).waitFor()
  await accessible(wall)
  assert.equal(await wall.getByText('Attendee 1').count(), 0)
  await boss.getByRole('button', { name: 'On the projector' }).click()
  await wall.getByText('Scan, or open').waitFor()
})

long('the poll of a step is offered when the pointer reaches it; a time limit closes it', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const boss = await desk(visitor, lead, lab)
  await boss.getByRole('button', { name: 'New poll' }).click()
  await boss.getByLabel('Question and answers').fill('Did it work?\n- yes\n- no')
  await boss.getByLabel('Belongs to').selectOption({ label: '2 Two' })
  await boss.getByRole('button', { name: 'Save as draft' }).click()
  await boss.getByText('draft', { exact: true }).waitFor()
  assert.equal(await boss.getByText('The poll of this step').count(), 0)
  const page = await reader(visitor, ann, lab)
  await lead.say(lab, { type: 'pointer', step_number: 2, hints: false })
  await boss.getByText('The poll of this step').waitFor()
  await accessible(boss)
  await boss.locator('.notice').getByRole('button', { name: 'Open' }).click()
  await strip(page).getByRole('button', { name: 'yes' }).waitFor()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()
  // The poll is opened again, long enough for a slow browser to show it.
  const [poll] = await lead.get(`/codelabs/${lab.id}/polls`)
  await lead.post(`/codelabs/${lab.id}/polls/${poll.id}/open`, { seconds: 20 })
  await strip(page)
    .getByText(/0:([01]\d|20) left/)
    .waitFor()
  await strip(page).waitFor({ state: 'detached' })
  await boss.getByText('closed', { exact: true }).waitFor()
})

long('a minute card has two boxes, is anonymous, and is offered when a break begins', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const people = await Promise.all(['Ann', 'Ben', 'Cleo', 'Dan', 'Eve'].map((name) => person(lab, name)))
  const page = await reader(visitor, people[0], lab)
  const boss = await desk(visitor, lead, lab)
  let reads = 0
  boss.on('request', (r) => (reads += new URL(r.url()).pathname.endsWith('/texts') ? 1 : 0))
  await boss.getByRole('tab', { name: 'Timer' }).click()
  await boss.getByRole('button', { name: 'Break' }).click()
  await boss.getByRole('button', { name: '15 min' }).click()
  await boss.getByRole('button', { name: 'Ask for a minute card' }).click()
  await strip(page).getByRole('button', { name: 'Answer' }).click()
  const beside = page.locator('aside')
  await beside.getByRole('textbox', { name: 'One thing I learned' }).fill('Channels')
  await beside.getByRole('textbox', { name: 'One thing still unclear' }).fill('Select,\nand when to close')
  await accessible(page)
  await beside.getByRole('button', { name: 'Send' }).tap()
  await beside.getByText('Your vote is in.').waitFor()
  const { id, round } = (await lead.get(`/codelabs/${lab.id}/polls`))[0]
  for (const who of people.slice(1)) await who.put(`/codelabs/${lab.id}/polls/${id}/vote`, { round, text: `One thing I learned: what ${who.name} did` })
  await boss.getByRole('tab', { name: 'Polls' }).click()
  await boss.getByText('5 of').waitFor()
  await boss.getByRole('button', { name: 'Close', exact: true }).click()
  const texts = boss.getByRole('list', { name: 'Answers' })
  await texts.getByText('Channels').waitFor()
  await texts.getByText('Select,').waitFor()
  await accessible(boss)

  // While nobody answers, the texts are not read again and again.
  const other = await lead.post(`/codelabs/${lab.id}/polls`, { kind: 'text', question: 'What else?' })
  await lead.post(`/codelabs/${lab.id}/polls/${other.id}/open`, {})
  await boss.getByText('Nobody has answered yet.').waitFor()
  await accessible(boss)
  assert.ok(reads <= 8, `the texts were read ${reads} times, although only five people voted`)
})

long('a poll is created from a quiz question, edited, reset and deleted', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ quiz_enabled: true })
  await lead.put(`/codelabs/${lab.id}/quizzes`, [
    { question: 'What listens?', quiz_type: 'multiple_choice', options: ['A client', 'A server'], correct_answer: 1 },
  ])
  const ann = await person(lab, 'Ann')
  const page = await reader(visitor, ann, lab)
  const boss = await desk(visitor, lead, lab)
  await boss.getByRole('button', { name: 'Ready-made' }).click()
  await boss.getByRole('menuitem', { name: 'From a question of the quiz' }).click()
  await boss.getByRole('dialog').getByRole('button', { name: 'What listens?' }).click()
  const card = boss.locator('details').filter({ hasText: 'What listens?' })
  await card.locator('summary').click()
  await card.getByRole('button', { name: 'Open', exact: true }).click()
  await strip(page).getByRole('button', { name: 'A client' }).tap()
  await boss.getByText('1 of 1 have answered').waitFor()

  const more = async (name) => {
    await boss.getByRole('button', { name: 'More for' }).click()
    await boss.getByRole('menuitem', { name }).click()
  }
  await more('Edit the poll')
  await boss.getByText('People have voted.').waitFor()
  await accessible(boss)
  await boss.getByRole('dialog').getByLabel('Question and answers').fill('What listens here?\n- A client\n- [x] A server')
  await boss.getByRole('button', { name: 'Save', exact: true }).click()
  await until('the new question to be saved', async () => (await lead.get(`/codelabs/${lab.id}/polls`))[0].question === 'What listens here?')
  await strip(page).getByText('You said A client').waitFor()
  await strip(page).getByRole('button', { name: 'Change' }).tap()
  await strip(page).getByText('What listens here?').waitFor()
  await more('Reset')
  await accessible(boss)
  await boss.getByRole('dialog').getByRole('button', { name: 'Reset' }).click()
  await until('the vote to be removed', async () => (await lead.get(`/codelabs/${lab.id}/polls`))[0].votes === 0)
  await more('Delete')
  await boss.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await boss.getByText('No polls yet').waitFor()
  await strip(page).waitFor({ state: 'detached' })
})
