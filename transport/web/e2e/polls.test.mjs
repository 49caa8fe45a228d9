// Polls: written in seconds, answered with one tap, shown on the wall.
import assert from 'node:assert/strict'
import { findings, stage, turn, until } from './harness/stage.mjs'

const { test } = stage()
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const long = `# One\n\n${'A line of the text that is being read. '.repeat(120)}`

/** Throws when axe finds something serious, in light and in dark. */
async function accessible(page) {
  for (const colorScheme of ['light', 'dark']) {
    await turn(page, colorScheme)
    assert.deepEqual(await findings(page), [], colorScheme)
  }
}

/** The live view with the panel of polls. */
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

/** The reader of somebody, on a phone unless said otherwise. */
async function reader(visitor, person, lab, options = phone) {
  const guest = await visitor({ as: person, ...options })
  await guest.page.goto(`/codelabs/${lab.id}`)
  await guest.page.getByRole('heading', { name: 'One' }).waitFor()
  return guest.page
}
const strip = (page) => page.locator('#poll')

test('a poll is written, answered with one tap beside the text, changed, closed and shown', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: [long, '# Two\n\nMore.'] })
  const [ann, ben] = [await person(lab, 'Ann'), await person(lab, 'Ben')]
  const page = await reader(visitor, ann, lab)
  await reader(visitor, ben, lab)
  const main = page.locator('main')
  await main.evaluate((e) => (e.scrollTop = 300))
  await page.evaluate(() => document.querySelector('main').focus())
  const firstLine = () => page.locator('article p').nth(1).evaluate((e) => e.getBoundingClientRect().top)
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

  // It comes beside the text: nothing moves, nothing takes the focus, and it is read out.
  await strip(page).getByRole('button', { name: 'Coffee' }).waitFor()
  assert.equal(await firstLine(), before, 'the text has moved')
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), 'MAIN', 'the focus was taken')
  await page.locator('[aria-live=polite]', { hasText: 'Poll: Tea or coffee?' }).waitFor()
  await accessible(page)

  await strip(page).getByRole('button', { name: 'Tea' }).tap()
  await strip(page).getByText('Your answer: Tea').waitFor()
  assert.equal(await firstLine(), before)
  await boss.getByText('1 of 2 have answered').waitFor()
  // Named: who has not answered is known.
  await boss.getByText('Who has not answered').click()
  await boss.getByRole('listitem').filter({ hasText: /^Ben$/ }).waitFor()

  await strip(page).getByRole('button', { name: 'Change' }).tap()
  await strip(page).getByRole('button', { name: 'Coffee' }).tap()
  await strip(page).getByText('Your answer: Coffee').waitFor()
  await strip(page).getByRole('button', { name: 'Take back' }).tap()
  await strip(page).getByRole('button', { name: 'Tea' }).waitFor()
  await strip(page).getByRole('button', { name: 'Coffee' }).tap()
  await strip(page).getByText('Your answer: Coffee').waitFor()
  assert.equal(await strip(page).locator('ul').count(), 0, 'counts are seen before they are shown')

  await boss.getByRole('button', { name: 'Show', exact: true }).click()
  await strip(page).getByText('1 of 2 have answered').waitFor()
  assert.equal(await strip(page).getByText('right', { exact: true }).count(), 0, 'the answer is known while it is open')
  await boss.getByRole('button', { name: 'Close', exact: true }).click()
  await strip(page).getByText('right', { exact: true }).waitFor()
  await strip(page).getByText('your answer', { exact: true }).waitFor()
  await accessible(page)
  await accessible(boss)

  // A reload does not push the result at anybody; the panel has it.
  await strip(page).getByRole('button', { name: 'Seen' }).tap()
  await strip(page).waitFor({ state: 'detached' })
  await page.reload()
  await page.getByRole('navigation', { name: 'Steps, chat and help' }).getByRole('button', { name: 'Chat' }).tap()
  await page.getByRole('tab', { name: 'Polls' }).tap()
  await page.getByRole('region', { name: 'Tea or coffee?' }).getByText('your answer').waitFor()
  await accessible(page)
})
