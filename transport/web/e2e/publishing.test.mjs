// A newer version of a text is published into a codelab with people in it, and runs are
// compared side by side. Programs report checks of an attendee's work, and facilitators see
// them. Attendees tick tasks.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { inFirefox, sound, stage, until } from './harness/stage.mjs'

const { test, long } = stage()
const wide = { viewport: { width: 1440, height: 900 } }

const newer = `id: tour

# A newer tour

## Look around

Another text.

## Say more

Text of a new step.

## Say hello

Hello.
`

test('a file is published into a codelab in use', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({
    steps: [
      { title: 'Look around', content_markdown: 'Text.' },
      { title: 'Say hello', content_markdown: 'Hello.\n' },
    ],
  })
  const ann = await person(lab, 'Ann')
  const read = (await visitor({ as: ann, viewport: { width: 390, height: 844 } })).page
  await read.goto(`/codelabs/${lab.id}?step=2`)
  await read.getByRole('heading', { name: 'Say hello' }).waitFor()

  const page = (await visitor({ as: lead, ...wide })).page
  await page.goto(`/admin/${lab.id}/settings/versions`)
  const versions = page.getByRole('region', { name: 'Versions' })
  await versions.locator('input[type=file]').setInputFiles({ name: 'tour.md', mimeType: 'text/markdown', buffer: Buffer.from(newer) })
  const found = versions.getByRole('group', { name: 'tour.md: what would change' })
  await found.getByText('Say more').waitFor()
  assert.equal(await found.getByRole('listitem').count(), 3)
  await found.scrollIntoViewIfNeeded()
  await sound(page, 'versions')
  await found.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('Published.').waitFor()

  // Ann is still on her step, which is now the third. On a phone the bar shows this.
  await read.getByRole('banner').getByText('Step 3 of 3').waitFor()
  await read.getByRole('heading', { name: 'Say hello' }).waitFor()
})

long('a run is compared with its original and updated', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Original', steps: [{ title: 'One', content_markdown: 'Text.' }] })
  const run = await lead.post(`/codelabs/${lab.id}/copy`, {})
  await person(lab, 'Ann')
  await person(run, 'Ben')
  await lead.put(`/codelabs/${lab.id}/steps`, {
    steps: [
      { title: 'One', content_markdown: 'Newer.' },
      { title: 'Two', content_markdown: 'More.' },
    ],
  })

  const page = (await visitor({ as: lead, ...wide })).page
  await page.goto(`/admin/${run.id}/settings/versions`)
  const versions = page.getByRole('region', { name: 'Versions' })
  await versions.getByRole('button', { name: 'Compare with the original' }).click()
  await versions.getByRole('listitem').filter({ hasText: 'Two' }).waitFor()
  await versions.getByRole('button', { name: 'Publish', exact: true }).click()
  await page.getByText('Published.').waitFor()
  assert.equal((await lead.get(`/codelabs/${run.id}`))[1].length, 2)

  await page.goto(`/admin/${run.id}/results`)
  await page.getByRole('tab', { name: 'Runs' }).click()
  await page.getByRole('region', { name: 'Median time on each step' }).first().waitFor()
  assert.equal((await page.getByRole('link', { name: 'Original' }).count()) >= 2, true)
  await sound(page, 'runs')
})

long('a check reported by a program is shown to facilitators', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const text = 'Build it.\n\n```check build\nIt builds\n\nRun make and look for errors.\n```\n'
  const lab = await lead.codelab({ require_checks: true, steps: [{ title: 'One', content_markdown: text }] })
  const ann = await person(lab, 'Ann')
  const read = (await visitor({ as: ann, ...wide })).page
  await read.goto(`/codelabs/${lab.id}`)
  const checks = read.getByRole('region', { name: 'Checks' })
  await checks.getByText('not reported yet').waitFor()
  await checks.getByRole('button', { name: 'How to report' }).click()
  await checks.getByText('curl').waitFor()

  const access = await ann.post(`/codelabs/${lab.id}/check-access`, {})
  const report = (body) =>
    fetch(`${access.url}/build`, { method: 'POST', headers: { Authorization: `Bearer ${access.token}` }, body: new URLSearchParams(body) })
  assert.equal((await report({ ok: 'false', note: 'line 3' })).status, 200)
  await checks.getByText('failed', { exact: false }).first().waitFor()
  await checks.getByText('line 3').waitFor()
  await sound(read, 'checks-reader')

  const live = (await visitor({ as: lead, ...wide })).page
  await live.goto(`/admin/${lab.id}`)
  await live.getByTitle('It builds: 0 passed, 1 failed').waitFor()
  await live.getByRole('button', { name: /^Ann/ }).first().click()
  await live.getByText('line 3').waitFor()
  await sound(live, 'checks-person')
  assert.equal((await report({ ok: 'true' })).status, 200)
  await checks.getByText('passed').waitFor()
})

test('ticks of tasks appear on all devices of a person, and are counted for facilitators', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const text = 'Do this:\n\n- [ ] Install **Go**\n- [ ] Run `make`\n\n  It takes a while.\n\n  - [x] Look\n\n!!! note\n    - [ ] Elsewhere\n'
  const lab = await lead.codelab({ steps: [{ title: 'One', content_markdown: text }] })
  const ann = await person(lab, 'Ann')
  const [desk, phone] = await Promise.all([visitor({ as: ann, ...wide }), visitor({ as: ann, viewport: { width: 390, height: 800 }, hasTouch: true })])
  const box = (page, name) => page.getByRole('checkbox', { name, exact: true })
  const on = (page, name, checked) =>
    until(`the box "${name}" to be ${checked ? 'checked' : 'unchecked'}`, () =>
      box(page, name)
        .isChecked()
        .then((is) => is === checked),
    )
  await Promise.all([desk, phone].map(({ page }) => page.goto(`/codelabs/${lab.id}`)))
  await on(desk.page, 'Look', false)
  assert.deepEqual(await desk.page.locator('.markdown input').evaluateAll((all) => all.map((b) => b.disabled)), [false, false, false, true])
  await box(desk.page, 'Install Go').check()
  await desk.page.getByText('Facilitators see how many you ticked.').waitFor()
  await on(phone.page, 'Install Go', true)
  await sound(desk.page, 'tasks')
  const sizes = (page) => box(page, 'Look').evaluate((b) => [b, b.parentElement].map((e) => e.getBoundingClientRect().height))
  assert.deepEqual(
    [await sizes(desk.page), await sizes(phone.page)],
    [
      [20, 36],
      [20, inFirefox ? 36 : 44], // a finger needs more space than a mouse
    ],
  )

  // Without a connection the task is ticked on the device. The tick is sent when the connection is
  // back.
  await phone.context.setOffline(true)
  await box(phone.page, 'Install Go').uncheck()
  await box(phone.page, 'Run make').check()
  await on(phone.page, 'Run make', true)
  await phone.context.setOffline(false)
  await on(desk.page, 'Run make', true)
  await on(desk.page, 'Install Go', false)
  await desk.page.reload()
  await on(desk.page, 'Run make', true)
  await on(desk.page, 'Install Go', false)

  const item = (words) => createHash('sha256').update(words).digest('hex').slice(0, 16)
  const [step] = lab.steps
  for (const name of ['Ben', 'Cem']) await (await person(lab, name)).say(lab, { type: 'tick', step_id: step.id, item: item('Look'), done: true })
  const live = (await visitor({ as: lead, ...wide })).page
  await live.goto(`/admin/${lab.id}`)
  await live.getByText('tasks 33%').waitFor()
  await live.getByRole('button', { name: /^Ann/ }).first().click()
  await live.getByText('1 of 3 ticked').waitFor()
  // The person's time on each step is next to the step.
  const times = live
    .getByRole('dialog', { name: 'Ann' })
    .getByRole('list')
    .filter({ has: live.getByRole('img') })
  await times.getByText('One').waitFor()
  assert.equal(await times.getByRole('listitem').count(), 1)

  // Facilitators cannot tick the tasks of a text.
  await live.goto(`/codelabs/${lab.id}/all`)
  await live.getByText('It takes a while.').waitFor()
  assert.equal(await live.locator('.markdown input:disabled').count(), 4)
})
