// The app on a phone, and the projector with long texts.
import assert from 'node:assert/strict'
import { stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()
const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }

test('Back closes overlays before it leaves the page', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann, ...phone })
  const at = () => new URL(page.url()).pathname
  const dialog = page.getByRole('dialog')
  const gone = (what) => what.waitFor({ state: 'detached' })
  const depth = (n) => page.waitForFunction((n) => (history.state?.over ?? 0) === n, n)

  // Counts the moves in the history. The page's own listeners hide the moves from listeners that
  // are added later.
  await page.addInitScript(() => {
    globalThis.moves = 0
    addEventListener('popstate', () => globalThis.moves++, { capture: true })
  })
  await page.goto('/')
  await page.getByRole('heading', { name: 'Join a workshop' }).waitFor()
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('heading', { name: 'One' }).waitFor()
  const below = page.getByRole('navigation', { name: 'Steps, chat and help' })

  // Back closes a drawer, and Forward does not open it again.
  await below.getByRole('button', { name: 'Steps' }).click()
  await dialog.waitFor()
  await depth(1)
  await page.goBack()
  await gone(dialog)
  assert.equal(at(), `/codelabs/${lab.id}`)
  const moves = await page.evaluate(() => (history.forward(), globalThis.moves))
  await page.waitForFunction((moves) => globalThis.moves >= moves + 2, moves) // forward, and back by the page itself
  await depth(0)
  assert.equal(await dialog.count(), 0)

  // Back closes a dialog over a panel first, and then the panel.
  await below.getByRole('button', { name: 'Chat' }).click()
  const panel = page.getByRole('complementary', { name: 'Chat, comments, files' })
  await panel.getByRole('button', { name: 'Everybody' }).waitFor()
  await depth(1)
  await panel.getByRole('tab', { name: 'Files' }).focus()
  await page.keyboard.press('?')
  await dialog.waitFor()
  await depth(2)
  await page.goBack()
  await gone(dialog)
  await page.goBack()
  await gone(panel)
  await depth(0)

  // A drawer that closes after a selection leaves no history entry.
  await below.getByRole('button', { name: 'Steps' }).click()
  await depth(1)
  await dialog.getByRole('link', { name: 'Two' }).click()
  await page.getByRole('heading', { name: 'Two' }).waitFor()
  await depth(0)
  await page.waitForURL((url) => url.search === '?step=2')
  // Back returns to the previous step, not to the list.
  await page.goBack()
  await page.getByRole('heading', { name: 'One' }).waitFor()
  assert.equal(await dialog.count(), 0)
  await page.goForward()
  await page.getByRole('heading', { name: 'Two' }).waitFor()

  // A reload closes an open dialog and removes its history entry.
  await below.getByRole('button', { name: 'Help' }).click()
  await dialog.waitFor()
  await depth(1)
  await page.reload()
  await page.getByRole('heading', { name: 'Two' }).waitFor()
  await depth(0)
  assert.equal(await dialog.count(), 0)
  await page.goBack()
  await page.getByRole('heading', { name: 'One' }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Join a workshop' }).waitFor()

  // In the live view, the side panel replaces a person's dialog.
  const boss = await visitor({ as: lead, ...phone })
  await boss.page.goto(`/admin/${lab.id}`)
  await boss.page.getByRole('region', { name: /^Step/ }).getByRole('button', { name: '1 silent' }).click()
  await boss.page
    .getByRole('button', { name: /^Attendee 1/ })
    .first()
    .click()
  await boss.page.getByRole('dialog').waitFor()
  await boss.page.getByRole('button', { name: 'More for Attendee 1' }).click()
  await boss.page.getByRole('menuitem', { name: 'All of their messages' }).click()
  await gone(boss.page.getByRole('dialog'))
  const side = boss.page.getByRole('button', { name: 'Help', expanded: true })
  await side.waitFor()
  await boss.page.waitForFunction(() => history.state?.over === 1)
  await boss.page.goBack()
  await gone(side)
  assert.equal(new URL(boss.page.url()).pathname, `/admin/${lab.id}`)
  assert.equal(await until('the history entry to be removed', () => boss.page.evaluate(() => (history.state?.over ?? 0) === 0)), true)
})

const lengthy = 'An introduction to distributed systems with many small services that talk to one another'
const box = (locator) => locator.evaluate((e) => e.getBoundingClientRect().toJSON())

long('bars and panels fit their contents at 390 pixels', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: lengthy })
  const ann = await person(lab, 'Attendee 1')
  const ben = await person(lab, 'Attendee with a very long name that hardly fits into any line 2')
  await lead.say(lab, { type: 'pointer', step_number: 2, hints: false })
  for (const locale of ['en-GB', 'de-DE']) {
    const { page } = await visitor({ as: ann, locale, ...phone })
    await page.goto(`/codelabs/${lab.id}`)
    await page.getByRole('heading', { name: 'One', exact: true }).waitFor()
    // The bar shows the current step.
    await page.locator('nav.below').waitFor()
    await still(page)
    await page
      .getByRole('banner')
      .getByText(locale === 'en-GB' ? 'Step 1 of 3' : 'Schritt 1 von 3')
      .waitFor()
    // The mood is shown as text, and the lower bar is in one row.
    const below = page.locator('nav.below')
    const words = locale === 'en-GB' ? ['Fine', 'Slow', 'Stuck'] : ['Läuft', 'Langsam', 'Hänge fest']
    for (const word of words) assert.ok(await below.getByText(word, { exact: true }).isVisible(), word)
    const places = () => below.getByRole('button').evaluateAll((all) => all.map((e) => e.getBoundingClientRect().toJSON()))
    const before = await places()
    assert.equal(new Set(before.map((b) => Math.round((b.top + b.bottom) / 2))).size, 1, 'the bar has two rows')
    assert.ok(
      before.every((b) => b.left >= 0 && b.right <= 390),
      'the bar is cut off',
    )
    // The sign for unread messages does not move other elements.
    await ben.say(lab, { type: 'chat', message: 'w'.repeat(300) })
    await below.getByRole('button', { name: /1 (unread|ungelesen)/ }).waitFor()
    assert.deepEqual(await places(), before)
  }

  const guest = await visitor({ as: ann, ...phone })
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('button', { name: 'Chat' }).click()
  // A long name does not cut off the time, and a long word does not widen the panel.
  const message = page.locator('.message').first()
  const time = await box(message.locator('.num'))
  assert.ok(time.height < 24 && time.right <= 390, 'the time is cut off')
  assert.equal(await page.getByRole('log').evaluate((e) => e.scrollWidth - e.clientWidth), 0)
  const words = 'The first step'
  await ben.post(`/codelabs/${lab.id}/inline-comments`, {
    anchor_key: `step|${lab.steps[0].id}|h|0|14`,
    target_type: 'step',
    target_step_id: lab.steps[0].id,
    start_offset: 0,
    end_offset: words.length,
    selected_text: words,
    content_hash: 'h',
    message: 'w'.repeat(300),
  })
  await page.getByRole('tab', { name: /Comments/ }).click()
  await page.getByText('w'.repeat(300)).waitFor()
  assert.equal(await page.locator('.threads').evaluate((e) => e.scrollWidth - e.clientWidth), 0)
  await page.goBack()
  await page.getByRole('button', { name: 'Steps' }).click()
  await page.getByRole('dialog').getByRole('link', { name: 'Feedback' }).click()
  await page.getByText('very hard').waitFor()
  await still(page)
  const [easy, one, hard, five] = await Promise.all(
    [page.getByText('very easy'), page.locator('label span').first(), page.getByText('very hard'), page.locator('label span').nth(4)].map(box),
  )
  assert.equal(easy.top, hard.top)
  assert.ok(easy.top >= one.bottom && Math.abs(easy.left - one.left) < 2 && Math.abs(hard.right - five.right) < 2, 'the words are not below their numbers')

  const boss = await visitor({ as: lead, ...phone })
  await boss.page.goto(`/admin/${lab.id}`)
  await boss.page.getByText(/of \d+ here/).waitFor()
  await still(boss.page)
  const header = await box(boss.page.locator('header').first())
  assert.ok(header.height < 120, `the bar of the live view is ${header.height} pixels high, want less than 120`)
  await boss.page.getByRole('button', { name: 'Help', exact: true }).click()
  await boss.page.getByRole('complementary').waitFor()
  assert.ok((await box(boss.page.getByRole('complementary'))).top >= header.bottom, 'the side panel covers the bar')
  await boss.page.goto(`/admin/${lab.id}/results`)
  await boss.page.getByRole('tab', { name: 'Draw' }).waitFor()
  await still(boss.page)
  const [tabs, again] = await Promise.all([boss.page.getByRole('tablist'), boss.page.getByRole('button', { name: 'Refresh' })].map(box))
  assert.ok(tabs.right <= again.left, 'the button covers tabs')
  await boss.page.getByRole('tab', { name: 'Draw' }).click()
  const inView = async () => (await box(boss.page.getByRole('tab', { name: 'Draw' }))).right <= (await box(boss.page.getByRole('tablist'))).right + 1
  await until('the chosen tab to be in view', inView)
})

long('every tab beside the text is visible', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ questions: 'open' })
  const { page } = await visitor({ as: await person(lab, 'Attendee 1'), ...phone, viewport: { width: 320, height: 800 } })
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('navigation', { name: 'Steps, chat and help' }).getByRole('button', { name: 'Chat' }).click()
  await page.getByRole('tab', { name: 'Q&A' }).waitFor()
  await still(page)
  // The tabs are in one row. Tabs that do not fit are in a menu at the end of the row.
  const tabs = await page.getByRole('tab').all()
  const row = await box(page.getByRole('tablist').locator('..'))
  for (const tab of tabs) {
    const at = await box(tab)
    assert.ok(at.left >= 0 && at.right <= row.right && at.bottom <= row.bottom, `the tab ${await tab.textContent()} is not visible`)
  }
  const files = page.getByRole('tab', { name: 'Files' })
  if ((await files.count()) > 0) await files.click()
  else {
    await page.getByRole('complementary').getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Files' }).click()
  }
  await page.getByRole('tab', { name: 'Files', selected: true }).waitFor()
})

long('the join code is on the projector, however long the other texts are', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: `${lengthy}, ${lengthy}`, steps: [{ title: lengthy, content_markdown: 'Text.' }] })
  await lead.put(`/codelabs/${lab.id}/pin`, { message: 'Bring a laptop and a charger.\n'.repeat(40) })
  await lead.say(lab, { type: 'pointer', step_number: 1, hints: false })
  for (const viewport of [
    { width: 1440, height: 860 },
    { width: 1024, height: 768 },
    { width: 1920, height: 1080 },
    { width: 390, height: 800 },
  ]) {
    const { page } = await visitor({ as: lead, viewport })
    await page.goto(`/admin/${lab.id}/projector`)
    await page.getByText('We are at step 1').waitFor()
    await still(page)
    for (const what of ['.code', '.qr']) {
      const at = await box(page.locator(what))
      assert.ok(at.top >= 0 && at.bottom <= viewport.height && at.height > 40, `${what} at ${viewport.width} x ${viewport.height}: ${JSON.stringify(at)}`)
    }
  }
})
