// The pages of an author of codelabs: the list, the editor, settings, quiz, files, and the
// code of the steps.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { section, sound as looked, stage, until } from './harness/stage.mjs'

const { test, long } = stage()

/** An optional folder for a picture of each screen. */
const shots = process.env.SHOTS

/** A tar.gz of one file. */
function tarGzip(name, mode, text) {
  const header = Buffer.alloc(512)
  const octal = (n, digits) => n.toString(8).padStart(digits, '0') + '\0'
  header.write(name, 0)
  header.write(octal(mode, 7) + octal(0, 7) + octal(0, 7) + octal(text.length, 11) + octal(0, 11) + ' '.repeat(8) + '0', 100)
  header.write('ustar\x0000', 257)
  header.write(
    octal(
      header.reduce((a, b) => a + b, 0),
      6,
    ) + ' ',
    148,
  )
  return gzipSync(Buffer.concat([header, Buffer.from(text), Buffer.alloc(512 - (text.length % 512) + 1024)]))
}

const wide = { viewport: { width: 1440, height: 860 } }

const claat = `id: greet
summary: A first tutorial
author: Attendee 1

# Greet the world

## Set up
Duration: 5

Install it.

## Say hello
Duration: 10

Type \`hello\`.

![A picture](missing.png)
`

/** Runs the checks for all pages, and checks that nothing is wider than a small phone. */
async function sound(page, name) {
  await looked(page, name)
  const size = page.viewportSize()
  await page.setViewportSize({ width: 320, height: 640 })
  // Parts of a page that measure themselves adapt to the narrow window one frame later.
  await until(`${name} to fit on a screen of 320 pixels`, () => page.evaluate(() => innerWidth === 320 && document.documentElement.scrollWidth <= 320))
  await page.setViewportSize(size)
}

long('the list is empty at first; a codelab is imported, copied, deleted and exported', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const browser = await visitor({ as: lead, ...wide })
  const { page } = browser
  await page.goto('/admin')
  await page.getByText('Nothing here yet').waitFor()
  await sound(page, 'labs-empty')

  const files = page.locator('input[type=file]')
  await files.setInputFiles({ name: 'greet.md', mimeType: 'text/markdown', buffer: Buffer.from(claat) })
  await page.getByRole('heading', { name: '“Greet the world” is imported: 2 steps.' }).waitFor()
  await page.getByText('missing.png').waitFor()
  const row = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: 'Greet the world', exact: true }) })
  await row.getByText('nobody has joined').waitFor()
  await row.getByText('open', { exact: true }).waitFor()

  // Creates a copy and deletes it by its title.
  await row.getByRole('button', { name: 'More for Greet the world' }).click()
  await page.getByRole('menuitem', { name: 'Copy' }).click()
  const copied = page.getByRole('listitem').filter({ hasText: 'Greet the world (Copy)' })
  await copied.waitFor()
  await copied.getByRole('button', { name: /^More for/ }).click()
  await page.getByRole('menuitem', { name: 'Delete …' }).click()
  const dialog = page.getByRole('dialog')
  const gone = dialog.getByRole('button', { name: 'Delete permanently' })
  assert.ok(await gone.isDisabled())
  await dialog.getByLabel(/type the title/).fill('greet the world (copy)')
  await sound(page, 'labs-delete')
  await gone.click()
  await copied.waitFor({ state: 'detached' })

  // The export is a file that can be imported again.
  await row.getByRole('button', { name: /^More for/ }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Export as ZIP' }).click()])
  assert.match(download.suggestedFilename(), /\.zip$/)
  await files.setInputFiles(
    await download
      .path()
      .then(async (path) => ({ name: 'again.zip', mimeType: 'application/zip', buffer: await (await import('node:fs/promises')).readFile(path) })),
  )
  await until('both codelabs to be listed', async () => (await page.getByRole('link', { name: 'Greet the world', exact: true }).count()) === 2)

  // A long list has a filter, and new codelabs appear without a reload.
  for (let i = 1; i <= 8; i++) await lead.codelab({ title: `Workshop ${i}`, is_public: i % 2 === 0 })
  await page.getByRole('link', { name: 'Workshop 8', exact: true }).waitFor()
  await sound(page, 'labs')
  await page.getByLabel(/^Filter/).fill('workshop 3')
  await until('one codelab to be left', async () => (await page.getByRole('button', { name: /^More for/ }).count()) === 1)

  // An invalid file causes an error message.
  browser.expect(/400 \(Bad Request\).*import/)
  await files.setInputFiles({ name: 'bad.zip', mimeType: 'application/zip', buffer: Buffer.from('not an archive') })
  await page.getByText(/This was not accepted/).waitFor()
})

const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/** The editor's text, which is in a shadow root. */
const editor = (page) => page.locator('.cm-content')

/** The content on the server. */
const stepsOf = async (person, id) => (await person.get(`/codelabs/${id}`))[1]

test('a codelab is written from scratch', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const { page } = await visitor({ as: lead, ...wide })
  await page.goto('/admin')
  await page.getByRole('button', { name: 'New codelab' }).first().click()
  await page.getByRole('dialog').getByLabel('Title').fill('A small web service')
  await page.keyboard.press('Enter')
  await page.getByText('No steps yet').waitFor()
  const id = new URL(page.url()).pathname.split('/')[2]
  await sound(page, 'edit-empty')

  await page.getByRole('button', { name: 'Write the first step' }).click()
  await until('the title to have the focus', () => page.evaluate(() => document.activeElement?.closest('#step-title') !== null))
  await page.keyboard.type('Say hello')
  await page.getByLabel('Minutes').fill('10')
  await editor(page).click()
  await page.keyboard.type('A handler takes a request.\n\n## What it says\n\nIt greets ')
  await page.keyboard.press('Control+b')
  await page.keyboard.type('everybody')
  await page.keyboard.press('Control+End')
  await page.keyboard.type('.\n\n')
  await page.getByRole('button', { name: 'Box: good to know' }).click()
  await page.keyboard.type('Counters need `sync/atomic`.')
  await page.keyboard.press('Control+End')
  await page.keyboard.type('\n\n')
  await page.getByRole('button', { name: 'Hint that opens' }).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('\n\n```go\nfunc main() {\n}\n```\n\n')
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByRole('heading', { name: 'What it says' }).waitFor()
  await preview.locator('strong', { hasText: 'everybody' }).waitFor()
  await preview.locator('aside.positive', { hasText: 'Counters' }).waitFor()
  await preview.locator('.t-keyword', { hasText: 'func' }).waitFor()

  // A pasted image appears as a link at the cursor.
  await page.evaluate(
    (bytes) => {
      const data = new DataTransfer()
      data.items.add(new File([new Uint8Array(bytes)], 'dot.png', { type: 'image/png' }))
      const host = [...document.querySelectorAll('.host')].find((h) => h.shadowRoot)
      const paste = new ClipboardEvent('paste', { bubbles: true, cancelable: true })
      Object.defineProperty(paste, 'clipboardData', { value: data }) // Firefox leaves files out of an event that a script made
      host.shadowRoot.querySelector('.cm-content').dispatchEvent(paste)
    },
    [...png],
  )
  await preview.getByRole('img', { name: 'dot' }).waitFor()

  // A second step is moved before the first by keyboard, and back by mouse.
  await page.getByRole('button', { name: 'Add a step' }).click()
  const titled = page.getByLabel('Title of the step')
  await until('the title to have the focus', () => titled.evaluate((e) => e === document.activeElement))
  assert.equal(await titled.getAttribute('aria-invalid'), null, 'the empty title is invalid before any typing')
  await page.keyboard.press('Tab')
  await until('the empty title to be invalid', async () => (await titled.getAttribute('aria-invalid')) === 'true')
  await titled.fill('Set up')
  const rail = page.getByRole('navigation', { name: 'Steps' }).getByRole('listitem')
  const titles = async () => (await rail.locator('.name').allTextContents()).join(', ')
  await rail.getByRole('button', { name: /Set up/ }).focus()
  await page.keyboard.press('Alt+ArrowUp')
  await until('the steps to be moved', async () => (await titles()) === 'Set up, Say hello')
  await until('the moved step to have the focus', () => rail.getByRole('button', { name: /Set up/ }).evaluate((e) => e === document.activeElement))
  // The mouse moves to the position of a step, so all steps must be in place.
  await page.waitForFunction(() => document.getAnimations().every((a) => a.playState !== 'running'))
  const from = await rail.nth(0).locator('.grip').boundingBox()
  const to = await rail.nth(1).boundingBox()
  await page.mouse.move(from.x + 8, from.y + 20)
  await page.mouse.down()
  await page.mouse.move(from.x + 8, from.y + 30, { steps: 4 })
  await page.mouse.move(to.x + 8, to.y + to.height - 4, { steps: 8 })
  await until('the dragged step to be shown in its new place', async () => (await titles()).startsWith('Say hello'))
  await page.mouse.up()
  await until('the steps to be in the dragged order', async () => (await titles()) === 'Say hello, Set up')

  // The step is removed and restored.
  await page.getByRole('button', { name: 'More for this step' }).click()
  await page.getByRole('menuitem', { name: 'Remove this step' }).click()
  await until('one step to be left', async () => (await titles()) === 'Say hello')
  await page.getByRole('button', { name: 'Undo' }).click()
  await until('the step to be back', async () => (await titles()) === 'Say hello, Set up')

  await page.getByRole('button', { name: /Preparation guide/ }).click()
  await editor(page).click()
  await page.keyboard.type('Bring a laptop.')
  await preview.getByText('Bring a laptop.').waitFor()
  await page.keyboard.press('Control+s')
  await page.getByText(/^Saved/).waitFor()
  const [lab, steps] = await lead.get(`/codelabs/${id}`)
  assert.equal(lab.guide_markdown, 'Bring a laptop.')
  assert.deepEqual(
    steps.map((s) => [s.title, s.duration_minutes]),
    [
      ['Say hello', 10],
      ['Set up', 0],
    ],
  )
  assert.match(
    steps[0].content_markdown,
    /It greets \*\*everybody\*\*\.[^]*<aside class="positive">\n\nCounters need `sync\/atomic`\.\n\n<\/aside>[^]*!\[dot\]\(\/uploads\/images\/[0-9a-f]{32}\.png\)/,
  )

  await rail.getByRole('button', { name: /Say hello/ }).click()
  await preview.getByRole('heading', { name: 'What it says' }).waitFor()
  await sound(page, 'edit')

  // The undo history survives a visit to another page. The new step has received its id by now.
  await editor(page).click()
  await page.keyboard.press('Control+z')
  await page.getByText('Not saved', { exact: true }).waitFor()
  await page.keyboard.press('Control+s')
  await page.getByText(/^Saved/).waitFor()
  const after = await stepsOf(lead, id)
  assert.deepEqual(
    after.map((s) => s.id),
    steps.map((s) => s.id),
  )
  assert.notEqual(after[0].content_markdown, steps[0].content_markdown)

  // Near the limit, the number of characters appears.
  await page.evaluate(() => {
    document.querySelector('.host').shadowRoot.querySelector('.cm-content').focus()
    document.execCommand('insertText', false, 'x'.repeat(49_000))
  })
  await page.getByText(/of 50,000 characters/).waitFor()
})

long('somebody who types while the editor loads can continue to type', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: [{ title: 'One', content_markdown: 'Install it.' }] })
  const { page } = await visitor({ as: lead, ...wide })
  let load = () => {}
  const asked = new Promise((done) => (load = done))
  await page.route(/codemirror/, async (route) => {
    await asked
    await route.continue()
  })
  await page.goto(`/admin/${lab.id}/edit`)
  const field = page.locator('.editor textarea')
  await field.fill('Install it. Then ')
  load()
  await editor(page).waitFor()
  await until('the editor to have the focus', () => page.evaluate(() => document.activeElement?.classList.contains('host')))
  await page.keyboard.type('run it.')
  await until('the text to be complete', async () => (await editor(page).innerText()) === 'Install it. Then run it.')
})

long('text and preview scroll together', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const part = (n) => `## Part ${n}\n\n${'Some words that fill the line. '.repeat(30)}\n\n\`\`\`js\nlet n = ${n}\n\`\`\`\n`
  const lab = await lead.codelab({ steps: [{ title: 'Long', content_markdown: Array.from({ length: 40 }, (_, i) => part(i + 1)).join('\n') }] })
  const { page } = await visitor({ as: lead, ...wide })
  await page.goto(`/admin/${lab.id}/edit`)
  await editor(page).waitFor()
  const preview = page.getByRole('region', { name: 'Preview' })
  await preview.getByRole('heading', { name: 'Part 40' }).waitFor({ state: 'attached' })
  /**
   * The headings around the top edge. The editor draws only the visible part, so the heading above
   * can be missing.
   */
  const around = (all, top) => [all.findLast((h) => h.top < top + 60)?.text, all.find((h) => h.top >= top + 60)?.text]
  const seen = async () => {
    const shown = await preview.evaluate((p) => ({
      top: p.getBoundingClientRect().top,
      all: [...p.querySelectorAll('h3')].map((h) => ({ top: h.getBoundingClientRect().top, text: h.textContent })),
    }))
    const written = await page.evaluate(() => {
      const root = document.querySelector('.host').shadowRoot
      const lines = [...root.querySelectorAll('.cm-line')].filter((l) => l.textContent.startsWith('## '))
      return {
        top: root.querySelector('.cm-scroller').getBoundingClientRect().top,
        all: lines.map((l) => ({ top: l.getBoundingClientRect().top, text: l.textContent.slice(3) })),
      }
    })
    return [around(shown.all, shown.top), around(written.all, written.top)]
  }
  const together = ([[a, b], [c, d]]) => (a !== undefined && a === c) || (b !== undefined && b === d)
  await editor(page).hover()
  await page.mouse.wheel(0, 6000)
  await until('the preview to follow', async () => {
    const now = await seen()
    return together(now) && !['Part 1', 'Part 2'].includes(now[0][1])
  })
  await preview.hover()
  const before = (await seen())[1][1]
  await page.mouse.wheel(0, -3000)
  await until('the text to follow', async () => {
    const now = await seen()
    return together(now) && now[1][1] !== before
  })
})

long('two people can write at once without loss, and a warning counts the affected comments', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Together', steps: ['# One\n\nThe first step.', '# Two\n\nThe second step.', '# Three\n\nThe third step.'] })
  const guest = await person(lab, 'Attendee 1')
  const hash = (text) => {
    let h = 0x811c9dc5
    for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
    return (h >>> 0).toString(16)
  }
  const comment = async (step, text, from, to) => {
    const h = hash(text)
    await guest.post(`/codelabs/${lab.id}/inline-comments`, {
      anchor_key: `step|${step.id}|${h}|${from}|${to}`,
      target_type: 'step',
      target_step_id: step.id,
      start_offset: from,
      end_offset: to,
      selected_text: text.slice(from, to),
      content_hash: h,
      message: 'Which one?',
    })
  }
  await comment(lab.steps[0], 'The first step.', 4, 9)
  await comment(lab.steps[2], 'The third step.', 4, 9)

  const one = await visitor({ as: lead, ...wide })
  const { page } = one
  await page.goto(`/admin/${lab.id}/edit`)
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' And more.')
  await page.getByRole('button', { name: /3 Three/ }).click()
  await page.getByRole('button', { name: 'More for this step' }).click()
  await page.getByRole('menuitem', { name: 'Remove this step' }).click()
  await page.keyboard.press('Control+s')
  const told = page.getByRole('dialog', { name: 'This changes text that has comments' })
  await told.getByText('1 comment thread becomes stale').waitFor()
  await told.getByText('1 comment thread is deleted with its step.').waitFor()
  await sound(page, 'edit-comments')
  await told.getByRole('button', { name: 'Save anyway' }).click()
  await page.getByText(/^Saved/).waitFor()
  const [first] = await stepsOf(lead, lab.id)
  assert.equal(first.id, lab.steps[0].id)
  assert.equal(first.content_markdown, 'The first step. And more.')
  const threads = await lead.get(`/codelabs/${lab.id}/inline-comments`)
  assert.deepEqual(
    threads.map((t) => [t.selected_text, t.stale]),
    [['first', true]],
  )

  // An author without unsaved text sees other authors' saved text immediately.
  const other = await facilitator('Helper')
  const put = (texts) => other.put(`/codelabs/${lab.id}/steps`, { steps: texts.map(([id, title, content_markdown]) => ({ id, title, content_markdown })) })
  const [a, b] = lab.steps.map((s) => s.id)
  await put([
    [a, 'One', 'The first step. And more.'],
    [b, 'Two', 'Changed by the helper.'],
  ])
  await page.getByRole('button', { name: /2 Two/ }).click()
  await editor(page).getByText('Changed by the helper.').waitFor()

  // An author with unsaved text gets a notice and decides.
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' And by me.')
  await page.getByText('Not saved', { exact: true }).waitFor()
  await put([
    [a, 'One', 'The helper was here, too.'],
    [b, 'Two', 'Changed again by the helper.'],
    ['', 'Four', 'A new step.'],
  ])
  await page.getByText('Somebody else has saved while you were writing.').waitFor()
  await page.keyboard.press('Control+s')
  const both = page.getByRole('dialog', { name: 'Two versions' })
  await both.getByText('1 difference is still open.').waitFor()
  await both.getByText('Changed again by the helper.').waitFor()
  await sound(page, 'edit-conflict')
  const two = both.getByRole('region', { name: 'Two' })
  await two.getByLabel('Keep mine').check()
  await both.getByRole('button', { name: 'Save this' }).click()
  await both.waitFor({ state: 'detached' })
  await until('the merged text to be saved', async () => (await stepsOf(lead, lab.id))[1].content_markdown === 'Changed by the helper. And by me.')
  assert.deepEqual(
    (await stepsOf(lead, lab.id)).map((s) => s.content_markdown),
    ['The helper was here, too.', 'Changed by the helper. And by me.', 'A new step.'],
  )
  await page.getByText(/^Saved/).waitFor()

  // Unsaved text survives the closed tab.
  await editor(page).click()
  await page.keyboard.press('Control+End')
  await page.keyboard.type(' Unsaved words.')
  await page.getByText('Not saved', { exact: true }).waitFor()
  await kept(page, `edit:${lab.id}`, 'Unsaved words.')
  await page.close({ runBeforeUnload: false })
  const again = await one.context.newPage()
  await again.goto(`/admin/${lab.id}/edit`)
  await again.getByText(/There is unsaved work from/).waitFor()
  await again.getByRole('button', { name: /2 Two/ }).click()
  await editor(again).getByText('Changed by the helper. And by me.', { exact: true }).waitFor()
  await again.getByRole('button', { name: 'Discard it' }).click()
  await again.getByRole('button', { name: 'Undo' }).click()
  await again.getByRole('button', { name: 'Continue with it' }).click()
  await editor(again).getByText('Unsaved words.').waitFor()

  // Leaving requires a confirmation.
  await again.getByRole('link', { name: 'Results' }).click()
  const leave = again.getByRole('dialog', { name: 'You have not saved' })
  await leave.getByRole('button', { name: 'Stay here' }).click()
  await leave.waitFor({ state: 'detached' })
  assert.match(again.url(), /\/edit$/)
  await again.getByRole('link', { name: 'Results' }).click()
  await leave.getByRole('button', { name: 'Save and leave' }).click()
  await again.waitForURL(/\/results$/)
  assert.match((await stepsOf(lead, lab.id))[1].content_markdown, /Unsaved words\.$/)
})

test('settings, quiz and files are edited, even while somebody else changes them', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Settings' })
  const browser = await visitor({ as: lead, ...wide })
  const { page } = browser
  await page.goto(`/admin/${lab.id}/settings`)
  const title = page.getByLabel('Title', { exact: true })
  await title.waitFor()
  await sound(page, 'settings-new')
  const index = page.getByRole('navigation', { name: 'Sections' })
  const unsaved = index.getByRole('link', { name: 'Not saved' })
  await title.fill('Better settings')
  await section(page, 'Joining')
  await page.getByLabel('Public').uncheck()
  await section(page, 'Quiz')
  await page.getByText('No questions yet.').waitFor()
  await page.getByLabel('There is a quiz').check()
  await section(page, 'Completion')
  await page.getByLabel('The quiz must be passed').check()
  await section(page, 'Data retention')
  await page.getByLabel('E-mail addresses, days').fill('30')
  await page.getByText('5 changes are not saved.').waitFor()
  assert.equal(await unsaved.count(), 5, 'the number of sections marked as changed is wrong')
  // Other people's changes to other settings stay.
  await lead.put(`/codelabs/${lab.id}`, { author: 'Attendee 1' })
  const save = page.getByRole('button', { name: 'Save', exact: true })
  browser.expect(/412 \(Precondition Failed\)/)
  await save.click()
  await page.getByText('Saved.', { exact: true }).first().waitFor()
  await until('the marks of all sections to disappear', async () => (await unsaved.count()) === 0)
  const now = async () => (await lead.get(`/codelabs/${lab.id}`))[0]
  const kept = await now()
  assert.deepEqual([kept.title, kept.author, kept.is_public, kept.require_quiz, kept.email_retention_days], ['Better settings', 'Attendee 1', false, true, 30])

  // Back leads to the previous section without a question. Leaving the settings asks for
  // confirmation.
  await section(page, 'About')
  await title.fill('Not yet')
  await section(page, 'Joining')
  await page.goBack()
  await page.getByRole('heading', { level: 2, name: 'About' }).waitFor()
  assert.equal(await title.inputValue(), 'Not yet')
  await page.getByRole('banner').getByRole('link', { name: 'Results' }).click()
  await page.getByRole('dialog', { name: 'You have not saved' }).getByRole('button', { name: 'Stay here' }).click()
  await page.getByRole('button', { name: 'Discard' }).click()
  assert.equal(await title.inputValue(), 'Better settings')

  // If two people change the same setting, the second is notified and decides. A draft survives a
  // reload and is offered.
  await title.fill('Mine')
  await until('the draft to be stored', () => page.evaluate((id) => localStorage.getItem(`atelier:draft:settings:${id}`)?.includes('Mine'), lab.id))
  await page.reload()
  await page.getByText(/There is unsaved work from/).waitFor()
  assert.equal(await title.inputValue(), 'Better settings')
  await page.getByRole('button', { name: 'Continue with it' }).click()
  await until('the draft to be restored', async () => (await title.inputValue()) === 'Mine')
  await lead.put(`/codelabs/${lab.id}`, { title: 'Theirs' })
  await save.click()
  await page.getByText(/Somebody else has changed the same settings/).waitFor()
  await page.getByText('Theirs', { exact: true }).last().waitFor()
  await page.getByRole('button', { name: 'Save mine' }).click()
  await until('the own title to be saved', async () => (await now()).title === 'Mine')
  // The response to this save shows the state of the other settings, too.
  await until('nothing to be left to save', async () => (await save.count()) === 0)

  // Joining.
  await section(page, 'Joining')
  await page.getByText(new RegExp(`${kept.join_code.slice(0, 3)} ${kept.join_code.slice(3)}`)).waitFor()
  await page.getByLabel('New people may join').uncheck()
  await until('registration to be closed', async () => (await now()).registration_open === false)

  // The quiz.
  await section(page, 'Quiz')
  const quiz = page.getByRole('region', { name: 'Quiz' })
  await quiz.getByRole('button', { name: 'Add a question' }).click()
  const first = quiz.getByRole('group', { name: 'Question 1' })
  await first.getByLabel('Question 1', { exact: true }).last().fill('Which ports are open?')
  await save.click()
  await quiz.getByText('1 question is not finished.').waitFor()
  await first.getByRole('button', { name: 'Add an answer' }).click()
  for (const [i, text] of ['80', '443', '22'].entries()) await first.getByRole('textbox', { name: `Answer ${i + 1}` }).fill(text)
  await first.getByText('Tick at least one right answer.').waitFor()
  await first.getByLabel('Answer 1 is right').check()
  await first.getByLabel('Answer 2 is right').check()
  await quiz.getByRole('button', { name: 'Add a question' }).click()
  const second = quiz.getByRole('group', { name: 'Question 2' })
  await second.getByRole('textbox').first().fill('What did you learn?')
  await second.getByLabel('Free text').check()
  await quiz.getByRole('button', { name: 'Question 2: move up' }).click()
  // One button saves all typed values.
  await section(page, 'About')
  await page.getByLabel('Author').fill('Attendee 2')
  await save.click()
  await page.getByText('The quiz is saved.').waitFor()
  await until('the other change to be saved, too', async () => (await now()).author === 'Attendee 2')
  await until('nothing to be left to save', async () => (await save.count()) === 0)
  const saved = await lead.get(`/codelabs/${lab.id}/quizzes`)
  assert.deepEqual(
    saved.map((q) => [q.question, q.quiz_type, q.options, q.correct_answers]),
    [
      ['What did you learn?', 'descriptive', [], null],
      ['Which ports are open?', 'multiple_choice', ['80', '443', '22'], [0, 1]],
    ],
  )
  await sound(page, 'settings')

  // The index opens a section and marks it. Current and older addresses do the same.
  const current = () => index.locator('[aria-current]').textContent()
  await index.getByRole('link', { name: 'Versions' }).click()
  await page.waitForURL(`**/admin/${lab.id}/settings/versions`)
  await until('the focus on the heading', () => page.evaluate(() => document.activeElement.matches('h2') && document.activeElement.textContent === 'Versions'))
  await page.goto(`/admin/${lab.id}/settings#joining`)
  await page.waitForURL(`**/admin/${lab.id}/settings/joining`)
  await until('the address to lead to Joining', async () => (await current()) === 'Joining')
  await page.setViewportSize({ width: 800, height: 900 })
  await page.getByRole('combobox', { name: 'Sections' }).selectOption('Quiz')
  await page.getByRole('heading', { level: 2, name: 'Quiz' }).waitFor()
  await page.setViewportSize(wide.viewport)
  await quiz.getByRole('textbox', { name: 'Question 1' }).fill('What did you take with you?')
  await lead.put(`/codelabs/${lab.id}/quizzes`, saved.slice(1))
  await save.click()
  await quiz.getByText(/Theirs has 1 question/).waitFor()
  await quiz.getByRole('button', { name: 'Keep mine' }).click()
  await until(
    'the own quiz to be saved',
    async () => (await lead.get(`/codelabs/${lab.id}/quizzes`)).map((q) => q.question).join() === 'What did you take with you?,Which ports are open?',
  )
  assert.equal((await lead.get(`/codelabs/${lab.id}/quizzes`))[1].id, saved[1].id)

  // Links and files.
  await section(page, 'Links and files')
  const files = page.getByRole('region', { name: 'Links and files' })
  await files.getByLabel('Address of a link').fill('example.org')
  await files.getByRole('button', { name: 'Add link' }).click()
  await files.getByText(/begins with https/).waitFor()
  await files.getByLabel('Address of a link').fill('https://example.org/slides')
  await files.getByLabel('Name of the file or link').fill('Slides')
  await files.getByRole('button', { name: 'Add link' }).click()
  await files.getByRole('link', { name: 'Slides' }).waitFor()
  await files.locator('input[type=file]').setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('notes') })
  await files.getByRole('link', { name: 'notes.txt' }).waitFor()
  await files.getByRole('button', { name: 'Remove Slides' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await files.getByRole('link', { name: 'Slides' }).waitFor({ state: 'detached' })
  assert.deepEqual(
    (await lead.get(`/codelabs/${lab.id}/materials`)).map((x) => x.title),
    ['notes.txt'],
  )
  if (shots) {
    await files.scrollIntoViewIfNeeded()
    await page.screenshot({ path: `${shots}/settings-end.png` })
  }

  // The end of the workshop and the actions after it.
  await section(page, 'End, export, delete')
  const danger = page.getByRole('region', { name: 'End, export, delete' })
  await danger.getByRole('button', { name: 'End the workshop' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End the workshop' }).click()
  await danger.getByText(/The workshop ended/).waitFor()
  await danger.getByRole('button', { name: /^(Reopen|Open again)/ }).click()
  await danger.getByRole('button', { name: 'End the workshop' }).waitFor()
  await danger.getByRole('button', { name: 'Delete …' }).click()
  await page
    .getByRole('dialog')
    .getByLabel(/type the title/)
    .fill('Mine')
  await page.getByRole('dialog').getByRole('button', { name: 'Delete permanently' }).click()
  await page.waitForURL(/\/admin$/)
})

for (const kind of ['branch', 'folder']) {
  long(`the code of the steps is imported, edited and deleted in a ${kind}`, async ({ visitor, facilitator }) => {
    const lead = await facilitator()
    const lab = await lead.codelab({ title: 'With code' })
    const browser = await visitor({ as: lead, ...wide })
    const { page } = browser
    browser.expect(/404 \(Not Found\).*codeserver/, /400 \(Bad Request\).*import/)
    await page.goto(`/admin/${lab.id}/code`)
    await page.getByRole('heading', { name: 'No code for this codelab yet' }).waitFor()
    if (kind === 'branch') await sound(page, 'code-none')
    await page.getByLabel(kind === 'branch' ? /^Branches/ : /^Plain folders/).check()
    await page.getByRole('button', { name: 'Begin' }).click()
    const files = page.getByRole('list', { name: 'Files' })
    await files.getByRole('button', { name: 'README.md' }).click()
    await editor(page).getByText('With code').waitFor()

    // A new file in a folder, and an invalid file name.
    await page.getByRole('button', { name: 'Add a file' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Path').fill('../main.go')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await dialog.getByText(/none is empty/).waitFor()
    await dialog.getByLabel('Path').fill('cmd/main.go')
    await dialog.getByRole('button', { name: 'Add' }).click()
    // While the editor loads, a plain field with the same name takes its place.
    await page.getByRole('textbox', { name: 'Text of cmd/main.go' }).and(editor(page)).click()
    await page.keyboard.type('package main\n\nfunc main() {\n')
    await files.getByText('new, not saved').waitFor()
    // After a reload, the unsaved file is offered.
    await kept(page, `code:${lab.id}:main`, 'func main() {')
    page.once('dialog', (d) => void d.accept())
    await page.reload()
    await page.getByText(/There is unsaved work from/).waitFor()
    await files.getByRole('button', { name: 'README.md' }).waitFor()
    assert.equal(await files.getByRole('button', { name: /main\.go/ }).count(), 0)
    await page.getByRole('button', { name: 'Continue with it' }).click()
    await files.getByRole('button', { name: /main\.go/ }).click()
    await page.locator('.cm-line', { hasText: 'func main()' }).waitFor()
    await sound(page, `code-${kind}`)
    if (kind === 'branch') await page.getByLabel('Description of the change').fill('Begin')
    await page.keyboard.press('Control+s')
    await page.getByText('The files are saved.').waitFor()
    const heads = kind === 'branch' ? 'branches' : 'folders'
    const at = `/codeserver/${lab.id}/${heads}`
    assert.deepEqual(await lead.get(`${at}/main/files`), ['README.md', 'cmd/main.go'])

    // A branch or folder for a step, with these files.
    await page.getByRole('button', { name: /^New (branch|folder) for a step/ }).click()
    await dialog.getByLabel('Step', { exact: true }).selectOption('2')
    await dialog.getByLabel('Where in the step').selectOption('end')
    await dialog.getByText('Its name will be step-2-end.').waitFor()
    if (kind === 'branch') await sound(page, 'code-new')
    await dialog.getByRole('button', { name: 'Create it' }).click()
    await dialog.waitFor({ state: 'detached' })
    const head = page.getByLabel(kind === 'branch' ? 'Branch' : 'Folder', { exact: true })
    await until('the state to be open', async () => (await head.inputValue()) === 'step-2-end')

    // One save renames, changes and deletes files.
    await files.getByRole('button', { name: 'main.go' }).click()
    await page.getByRole('button', { name: 'More for cmd/main.go' }).click()
    await page.getByRole('menuitem', { name: 'Rename or move …' }).click()
    await dialog.getByLabel('Path').fill('main.go')
    await dialog.getByRole('button', { name: 'Rename' }).click()
    await files.getByRole('button', { name: 'README.md' }).click()
    await page.getByRole('button', { name: 'More for README.md' }).click()
    await page.getByRole('menuitem', { name: 'Delete this file' }).click()
    await page.getByText('This file is deleted when you save').waitFor()
    await page.getByRole('button', { name: 'Save files' }).click()
    await until('the whole change to be saved', async () => (await lead.get(`${at}/step-2-end/files`)).join() === 'main.go')
    await page.getByRole('heading', { name: 'README.md' }).waitFor({ state: 'detached' }) // so nobody can save the deleted file again by mistake
    assert.match(await lead.get(`${at}/step-2-end/file?file=main.go`), /^package main\n\nfunc main\(\) \{\n/)
    assert.deepEqual(await lead.get(`${at}/main/files`), ['README.md', 'cmd/main.go'])

    // Somebody else writes the same file.
    await files
      .getByRole('button', { name: /not saved/ })
      .first()
      .waitFor({ state: 'detached' })
    await files.getByTitle('main.go', { exact: true }).click()
    await editor(page).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type('}\n')
    await lead.post(`${at}/step-2-end/files`, {
      files: [
        { path: 'main.go', content: 'package other\n' },
        { path: 'logo.bin', content: '\u0000\u0001' },
      ],
    })
    await page.getByRole('button', { name: 'Save files' }).click()
    await dialog.getByText(/These files were changed since you opened them: main\.go/).waitFor()
    await dialog.getByRole('button', { name: 'Replace with mine' }).click()
    await until('the own file to be saved', async () => /}\n$/.test(await lead.get(`${at}/step-2-end/file?file=main.go`)))
    await files.getByRole('button', { name: 'logo.bin' }).click()
    await page.getByText('This is not a text file').waitFor()
    await page.getByText(/^2 (B|bytes)/).waitFor()
    const [binary] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download this file' }).click()])
    assert.equal(binary.suggestedFilename(), 'logo.bin')

    // An archive is imported. Other files are refused, and the archive's program stays executable.
    const more = page.getByRole('button', { name: 'Import, download and delete' })
    await more.click()
    await page.getByRole('menuitem', { name: 'Import a ZIP or tar.gz …' }).click()
    await dialog.locator('input[type=file]').setInputFiles({ name: 'code.zip', mimeType: 'application/zip', buffer: Buffer.from('not an archive') })
    await dialog.getByText(/neither a ZIP nor a tar.gz/).waitFor()
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'code.tar.gz', mimeType: 'application/gzip', buffer: tarGzip('run.sh', 0o755, '#!/bin/sh\n') })
    await page.getByText('1 file is imported.').waitFor()
    await files.getByRole('button', { name: 'run.sh' }).click()
    await page.getByText('Executable').waitFor()
    assert.equal((await lead.get(`${at}/step-2-end/tree`)).find((f) => f.path === 'run.sh').mode, '100755')

    // The code is downloaded and deleted.
    await page.getByRole('button', { name: 'Import, download and delete' }).click()
    const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download as tar.gz' }).click()])
    assert.match(download.suggestedFilename(), /\.tar\.gz$/)
    await page.getByRole('button', { name: 'Import, download and delete' }).click()
    await page.getByRole('menuitem', { name: 'Delete all code …' }).click()
    await dialog.getByRole('button', { name: 'Delete all code' }).click()
    await page.getByRole('heading', { name: 'No code for this codelab yet' }).waitFor()
  })
}

long('unsaved text is offered, and the saved text is shown until it is accepted', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor({ as: lead, ...wide })
  await page.goto(`/admin/${lab.id}/edit`)
  await editor(page).getByText('The first step.').waitFor()
  const write = async (text) => {
    await editor(page).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(text)
    await kept(page, `edit:${lab.id}`, text)
  }
  page.on('dialog', (d) => void d.accept())
  await write(' Begun on Monday.')
  await page.reload()
  const offer = page.getByText(/There is unsaved work from/)
  await offer.waitFor()
  await editor(page).getByText('The first step.').waitFor()
  assert.equal(await editor(page).getByText('Begun on Monday.').count(), 0)

  // Newly started work does not replace the offered work.
  await write(' Begun on Tuesday.')
  await page.reload()
  await offer.waitFor()
  await page.getByRole('button', { name: 'Discard it' }).click()
  await page.getByText('The unsaved work is discarded.').waitFor()
  await offer.waitFor()
  await page.getByRole('button', { name: 'Continue with it' }).click()
  await editor(page).getByText('Begun on Monday.').waitFor()
  await offer.waitFor({ state: 'detached' })
  await page.getByText('Not saved', { exact: true }).waitFor()

  // If somebody else has saved in between, the usual notice appears.
  await page.reload()
  await offer.waitFor()
  await lead.put(`/codelabs/${lab.id}/steps`, {
    steps: lab.steps.map((s, i) => ({ id: s.id, title: s.title, content_markdown: i === 0 ? 'Another first step.' : 'Text.' })),
  })
  await editor(page).getByText('Another first step.').waitFor()
  await page.getByRole('button', { name: 'Continue with it' }).click()
  await page.getByText('Somebody else has saved while you were writing.').waitFor()
})

long('unsaved text that is offered in two tabs is not lost in either', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const boss = await visitor({ as: lead, ...wide })
  const one = boss.page
  const two = await boss.context.newPage()
  const key = `edit:${lab.id}`
  const write = async (page, text) => {
    await editor(page).click()
    await page.keyboard.press('Control+End')
    await page.keyboard.type(text)
    await kept(page, key, text)
  }
  const offer = (page) => page.getByText(/There is unsaved work from/)
  const goOn = (page) => page.getByRole('button', { name: 'Continue with it' }).click()
  for (const page of [one, two]) page.on('dialog', (d) => void d.accept())
  await one.goto(`/admin/${lab.id}/edit`)
  await editor(one).getByText('The first step.').waitFor()
  await write(one, ' Monday.')
  await one.reload()
  await two.goto(`/admin/${lab.id}/edit`)
  for (const page of [one, two]) await offer(page).waitFor()
  // One page continues the work. The other discards it and starts something else.
  await goOn(one)
  await editor(one).getByText('Monday.').waitFor()
  await write(one, ' Tuesday.')
  await two.getByRole('button', { name: 'Discard it' }).click()
  await offer(two).waitFor({ state: 'detached' })
  await write(two, ' Otherwise.')
  await kept(one, key, 'Tuesday.')
  // The next visit offers both, one after the other.
  await two.close()
  await one.reload()
  await offer(one).waitFor()
  await goOn(one)
  await editor(one).getByText('Otherwise.').waitFor()
  await offer(one).waitFor()
  await goOn(one)
  await editor(one).getByText('Monday. Tuesday.').waitFor()
})

/** Waits until the device has stored a text in a draft. */
const kept = (page, key, text) =>
  until('the draft to be stored', () =>
    page.evaluate(
      async ([key, text]) =>
        // Opening a missing database would create it without the app's store.
        (await indexedDB.databases()).some(({ name }) => name === 'keyval-store') &&
        new Promise((done) => {
          const open = indexedDB.open('keyval-store')
          open.onsuccess = () => {
            const get = open.result.transaction('keyval').objectStore('keyval').get(key)
            get.onsuccess = () => (open.result.close(), done(JSON.stringify(get.result ?? '').includes(text)))
          }
        }),
      [`atelier:${key}`, text],
    ),
  )
