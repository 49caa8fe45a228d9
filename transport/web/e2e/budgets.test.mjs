// The budgets of the app, in sizes and counts. make budgets measures times, on a quiet
// machine.
import assert from 'node:assert/strict'
import { crowd, each, unlimited } from './harness/crowd.mjs'
import { firstLoad, measureFirstLoad } from './harness/firstload.mjs'
import { stage, until } from './harness/stage.mjs'

const { test, long } = stage({ env: unlimited })

/** The first load of somebody who has registered. */
async function load({ visitor, facilitator, person }) {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: ['# One\n\nThe text of the first step.\n\n```go\nfunc main() {}\n```', '# Two\n\nMore.'] })
  return measureFirstLoad(await visitor({ as: await person(lab, 'Attendee 1') }), lab, 'The text of the first step.')
}

test('opening the reader loads little code and makes few requests', async (scene) => {
  const got = await load(scene)
  scene.note(`${(got.bytes / 1000).toFixed(1)} kB, ${got.nodes} elements, readable after ${got.readable.toFixed(0)} ms`)
  assert.ok(got.bytes > 0, 'no JavaScript or CSS was loaded')
  assert.ok(got.bytes <= firstLoad.bytes, `got ${got.bytes} bytes of JavaScript and CSS, want at most ${firstLoad.bytes}:\n${got.largest.join('\n')}`)
  scene.note(`${got.requests} requests`)
  assert.ok(got.requests <= firstLoad.requests, `got ${got.requests} requests, want at most ${firstLoad.requests}:\n${got.asked.join('\n')}`)
})

long('thousands of people need few elements', async ({ server, facilitator, visitor, note }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const people = await crowd(server, lab, 2000)
  const { page } = await visitor({ as: lead })
  await page.goto(`/admin/${lab.id}`)
  await page.getByText(/are past step/).waitFor()
  await each(300, (i) => people[i].say(lab, { type: 'step_progress', step_number: 1 + (i % 3) }))
  for (const [step, there] of [
    [1, /^1,?800 people/],
    [2, /^100 people/],
    [3, /^100 people/],
  ])
    await page
      .getByRole('region', { name: `Step ${step}:` })
      .getByText(there)
      .waitFor()
  const elements = await page.evaluate(() => document.querySelectorAll('*').length)
  note(`${elements} elements for 2,000 people`)
  assert.ok(elements <= 700, `got ${elements} elements, want at most 700`)
})

long('a long chat does not grow the page, and older messages load on scrolling', async ({ facilitator, visitor, person, note }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const speaker = await person(lab, 'Speaker')
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByText('● connected').waitFor()
  let said = 0
  await each(2000, async () => speaker.say(lab, { type: 'chat', message: `number ${++said}` }), 8)
  const log = page.getByRole('log')
  await until(
    'the last message to be shown',
    async () => (await lead.get(`/codelabs/${lab.id}/chat`)).at(-1).message === (await log.locator('.text').last().textContent()),
  )
  const held = await log.locator('.message').count()
  note(`${held} of 2,000 messages are in the page`)
  assert.ok(held <= 900, `got ${held} messages in the page, want at most 900`)
  // Scrolling up loads older messages again.
  const first = await log.locator('.text').first().textContent()
  await log.evaluate((e) => (e.scrollTop = 0))
  await until('older messages to be shown', async () => (await log.locator('.text').first().textContent()) !== first)
  // The page sets the scroll position one frame after it has shown the messages.
  await until('the scroll position to be kept when older messages load', () => log.evaluate((e) => e.scrollTop > 0))
})
