// The actions of an attendee, from the short code to a certificate that verifies.
import assert from 'node:assert/strict'
import { stage, until } from './harness/stage.mjs'

const { test, long } = stage()

const steps = [
  '# Set up\n\nInstall Go first.\n\n```go\nfunc main() { println("ready") }\n```\n\n<details><summary>A hint</summary>\n\nLook at the path.\n\n</details>\n',
  '# Write it\n\nA handler takes a request and writes an answer.\n',
  '# Run it\n\nOpen the address in your browser.\n',
]

/** Creates a codelab with every requirement for attendees. */
async function whole(lead, record = {}) {
  const lab = await lead.codelab({
    title: 'A small service',
    author: 'The authors',
    guide_markdown: 'Bring a laptop.',
    quiz_enabled: true,
    require_quiz: true,
    require_feedback: true,
    require_submission: true,
    steps,
    ...record,
  })
  await lead.put(`/codelabs/${lab.id}/quizzes`, [
    { question: 'What listens?', quiz_type: 'multiple_choice', options: ['A client', 'A server'], correct_answer: 1 },
    { question: 'Which are methods?', quiz_type: 'multiple_choice', options: ['GET', 'PUT', 'SAY'], correct_answers: [0, 1] },
    { question: 'Why?', quiz_type: 'descriptive' },
  ])
  await lead.post(`/codelabs/${lab.id}/materials`, { title: 'The slides', material_type: 'link', link_url: 'https://example.org/slides' })
  return lab
}

test('an attendee gets from the short code to a valid certificate', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await whole(lead)
  const guest = await visitor({ permissions: ['clipboard-write'] })
  const { page } = guest

  // The short code works in lower case and with a space.
  await page.goto('/')
  const code = lab.join_code.toLowerCase()
  const field = page.getByLabel('Code', { exact: true })
  guest.expect(/404 .*join/)
  await field.fill('ZZZ ZZZ')
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByText('No workshop has the code ZZZZZZ').waitFor()
  assert.equal(await field.inputValue(), 'ZZZ ZZZ')
  await field.fill(`${code.slice(0, 3)} ${code.slice(3)}`)
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('heading', { level: 1, name: 'A small service' }).waitFor()
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByRole('heading', { name: 'Set up' }).waitFor()
  const me = (await lead.get(`/codelabs/${lab.id}/attendees`))[0]
  assert.equal(me.name, 'Attendee 1')

  // Code is coloured and copied unchanged, and a hint opens.
  await page.locator('.t-keyword', { hasText: 'func' }).waitFor()
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => void (window.copied = text)
  })
  await page.getByRole('button', { name: 'Copy', exact: true }).click()
  await page.locator('[aria-live=polite]', { hasText: 'Copied.' }).first().waitFor({ state: 'attached' })
  assert.equal((await page.evaluate(() => window.copied)).trim(), 'func main() { println("ready") }')
  await page.getByText('A hint').click()
  await page.getByText('Look at the path.').waitFor()

  // The mood ends when the attendee moves on.
  const own = async () => (await lead.get(`/codelabs/${lab.id}/attendees`))[0]
  await page.getByRole('button', { name: 'Stuck' }).click()
  await until('the server to have the pulse', async () => (await own()).pulse?.state === 'stuck')
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'Write it' }).waitFor()
  await until('the server to have the step', async () => (await own()).current_step === 2)
  assert.equal((await own()).pulse, null)
  await page.getByRole('button', { name: 'Stuck', pressed: false }).waitFor()

  // A help request from the shortcut to its completion.
  await page.keyboard.press('h')
  await page.getByLabel(/What is it about/).fill('It says refused')
  await page.getByRole('dialog').getByRole('button', { name: 'Ask for help' }).click()
  await page.getByText('You are number 1.').waitFor()
  const [help] = await lead.get(`/codelabs/${lab.id}/help`)
  assert.equal(help.message, 'It says refused')
  await lead.post(`/codelabs/${lab.id}/help/${help.id}/claim`)
  await page.getByText('is on the way').waitFor()
  await page.getByRole('button', { name: 'It is solved' }).click()
  await until('the queue to be empty', async () => (await lead.get(`/codelabs/${lab.id}/help`)).length === 0)

  // Chat, a direct message, a broadcast, the pinned note, the pointer.
  await page.getByLabel('Write to everybody').fill('Hello all')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('Hello all').waitFor()
  await lead.say(lab, { type: 'dm', target_id: me.id, message: 'Just for you' })
  await page.getByRole('button', { name: /^Direct/ }).click()
  await page.getByRole('log').getByText('Just for you').waitFor()
  await page.getByLabel(/^Write to /).fill('Thank you')
  await page.keyboard.press('Enter')
  await page.getByRole('log').getByText('Thank you').waitFor()
  await until('the message to be stored once', async () => (await lead.get(`/codelabs/${lab.id}/chat`)).filter((m) => m.message === 'Thank you').length === 1)
  await lead.say(lab, { type: 'broadcast', message: 'A break until ten' })
  await page.getByText('To everybody: A break until ten').first().waitFor({ state: 'attached' })
  await page.getByRole('button', { name: 'Seen' }).click()
  await lead.put(`/codelabs/${lab.id}/pin`, { message: 'Lunch at noon' })
  await page.getByRole('button', { name: 'Everybody', exact: true }).click()
  await page.getByText('Pinned · Lunch at noon').waitFor()
  await lead.say(lab, { type: 'pointer', step_number: 3, hints: false })
  await page.getByRole('link', { name: 'Go there' }).click()
  await page.getByRole('heading', { name: 'Run it' }).waitFor()
  await page.keyboard.press('k')
  await page.getByRole('heading', { name: 'Write it' }).waitFor()

  // A comment on words of the text, which is underlined and can be answered.
  await selectWords(page, 'takes a request')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Comment').fill('From whom?')
  await page.getByRole('dialog').getByRole('button', { name: 'Comment' }).click()
  const [thread] = await until('the thread to be stored', async () => {
    const threads = await lead.get(`/codelabs/${lab.id}/inline-comments`)
    return threads.length > 0 && threads
  })
  assert.equal(thread.selected_text, 'takes a request')
  assert.equal(thread.start_offset, 'A handler '.length)
  await lead.post(`/codelabs/${lab.id}/inline-comments/${thread.id}/comments`, { message: 'From a browser', content_hash: thread.content_hash })
  await page.getByText('From a browser').waitFor()
  await page.getByLabel('Answer').fill('I see')
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await page.getByText('I see').waitFor()
  assert.equal(await page.evaluate(() => CSS.highlights.get('comment')?.size), 1)

  // The materials.
  await page.getByRole('tab', { name: 'Files' }).click()
  assert.equal(await page.getByRole('link', { name: 'The slides' }).getAttribute('href'), 'https://example.org/slides')

  // Each missing requirement has a button that leads to its page.
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Complete' }).click()
  const gate = (name) => page.getByRole('main').getByRole('listitem').filter({ hasText: name })
  for (const name of ['Quiz', 'Hand in work', 'Feedback']) await gate(name).getByText('still missing').waitFor()
  assert.equal(await page.getByText('Not yet').count(), 0, '"Not yet" is shown before an attempt to complete')
  await page.getByRole('button', { name: 'Complete the codelab' }).click()
  guest.expect(/409/)
  await page.getByText('Not yet').waitFor()

  await page.getByRole('main').getByRole('button', { name: 'Quiz' }).click()
  await page.getByLabel('A client').check()
  await page.getByLabel('GET', { exact: true }).check()
  await page.getByLabel('PUT', { exact: true }).check()
  await page.getByLabel('Your answer').fill('Because')
  await page.getByRole('button', { name: 'Send answers' }).click()
  await page.getByText('Not right').waitFor()
  await page.getByRole('status').getByText('1 of 2 right. 1 free-text answer received.').waitFor()
  await page.getByLabel('A server').check()
  await page.getByRole('button', { name: 'Send answers' }).click()
  await page.getByText('Passed.').waitFor()
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Complete' }).click()
  await gate('Quiz').getByText('done').waitFor()
  await gate('Feedback').getByText('still missing').waitFor()
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Quiz' }).click()

  await page.getByRole('main').getByRole('button', { name: 'Hand in work' }).click()
  await page.setInputFiles('input[type=file]', { name: 'main.go', mimeType: 'text/plain', buffer: Buffer.from('package main') })
  await page.getByRole('link', { name: 'main.go' }).waitFor()
  await page.getByLabel('Or a link').fill('https://example.org/mine')
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Feedback' }).click()
  await page.getByRole('heading', { level: 2, name: 'Feedback' }).waitFor()
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Hand in work' }).click()
  await page.getByRole('button', { name: 'Add link' }).click()
  await page.getByRole('link', { name: 'https://example.org/mine' }).waitFor()

  await page.getByRole('main').getByRole('button', { name: 'Feedback' }).click()
  await page.getByRole('radio', { name: '2' }).first().check({ force: true })
  await page.getByRole('radio', { name: '5' }).last().check({ force: true })
  await page.getByLabel(/What should we know/).fill('More of it')
  await page.getByRole('button', { name: 'Send feedback' }).click()
  await page.getByRole('main').getByText('Thank you').first().waitFor()
  // The list of steps ticks completed pages, even after a reload.
  for (const name of ['Quiz', 'Feedback'])
    await page
      .getByRole('navigation', { name: 'Steps' })
      .getByRole('link', { name: `${name} done` })
      .waitFor()
  await page.reload()
  for (const name of ['Quiz', 'Feedback'])
    await page
      .getByRole('navigation', { name: 'Steps' })
      .getByRole('link', { name: `${name} done` })
      .waitFor()

  await page.getByRole('main').getByRole('button', { name: 'Complete' }).click()
  await page.getByRole('button', { name: 'Complete the codelab' }).click()
  await page.getByRole('link', { name: 'To your certificate' }).click()
  await page.getByRole('heading', { level: 1, name: 'A small service' }).waitFor()
  await page.getByText('Attendee 1').waitFor()
  assert.equal(await page.getByRole('img', { name: /QR code/ }).count(), 1)
  await page.goto(`/verify/${me.id}`)
  await page.getByText('This certificate is valid.').waitFor()

  // Attendees can erase themselves, which also voids the certificate.
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('heading', { level: 2 }).first().waitFor()
  await page.getByRole('button', { name: 'Appearance and language' }).click()
  await page.getByRole('menuitem', { name: /erase my data/ }).click()
  await page.getByRole('button', { name: 'Erase me from this codelab' }).click()
  await page.getByRole('button', { name: /Yes, erase/ }).click()
  guest.expect(/40[134]/, /WebSocket/)
  await page.getByLabel('Your name').waitFor()
  assert.deepEqual(await lead.get(`/codelabs/${lab.id}/attendees`), [])
  assert.deepEqual(await page.evaluate((id) => Object.keys(localStorage).filter((key) => key.includes(id)), lab.id), [])
  await page.goto(`/verify/${me.id}`)
  await page.getByText('This certificate is not valid.').waitFor()
})

long(
  'a registration whose response was lost is repeated as a return, and a taken name can be used with its code',
  async ({ visitor, facilitator, person }) => {
    const lead = await facilitator()
    const lab = await lead.codelab()
    await person(lab, 'Attendee 2', 'secret')
    const guest = await visitor()
    guest.expect(/ERR_CONNECTION_RESET/)
    const { page } = guest
    await page.goto(`/j/${lab.join_code}`)
    // The server registers the person, but its response never arrives.
    let lost = 0
    await page.route('**/register', async (route) => {
      if (lost++ > 0) return route.fallback()
      await route.fetch()
      await route.abort('connectionreset')
    })
    await page.getByLabel('Your name').fill('Attendee 1')
    await page.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('heading', { name: 'One' }).waitFor()
    assert.equal(lost, 2)
    assert.deepEqual(
      (await lead.get(`/codelabs/${lab.id}/attendees`)).map((a) => a.name),
      ['Attendee 2', 'Attendee 1'],
    )

    const other = await visitor()
    other.expect(/409/)
    await other.page.goto(`/j/${lab.join_code}`)
    await other.page.getByLabel('Your name').fill('attendee 2')
    await other.page.getByRole('button', { name: 'Join' }).click()
    await other.page.getByText('Somebody has already joined under this name').waitFor()
    await other.page.getByLabel(/Own code/).fill('secret')
    await other.page.getByRole('button', { name: 'Join' }).click()
    await other.page.getByRole('heading', { name: 'One' }).waitFor()
    assert.equal((await lead.get(`/codelabs/${lab.id}/attendees`)).length, 2)
  },
  { chromium: 'Playwright does not repeat a Firefox request with its cookies' },
)

long('another device opens at the same step, and comments of other clients are located by their words', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps })
  const ann = await person(lab, 'Attendee 1')
  await ann.say(lab, { type: 'step_progress', step_number: 2 })
  // If another client has stored different offsets, the words decide.
  const step = lab.steps[1]
  await ann.post(`/codelabs/${lab.id}/inline-comments`, {
    anchor_key: `step|${step.id}|cafe|50|64`,
    target_type: 'step',
    target_step_id: step.id,
    start_offset: 50,
    end_offset: 64,
    selected_text: 'writes an answer',
    content_hash: 'cafe',
    message: 'Which one?',
  })
  const { page } = await visitor({ as: ann })
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('heading', { name: 'Write it' }).waitFor()
  await page.getByRole('button', { name: /Comment by Attendee 1/ }).click()
  await page.getByText('Which one?').waitFor()
  assert.equal(await page.evaluate(() => [...CSS.highlights.get('comment')].map(String).join()), 'writes an answer')
  // After a change of the text, the comment is labelled and has no position.
  await lead.put(`/codelabs/${lab.id}/steps`, {
    steps: lab.steps.map((s) => ({ id: s.id, title: s.title, content_markdown: s.id === step.id ? 'All new.' : s.content_markdown })),
  })
  await page.getByText('The text has changed since.').waitFor()
  await page.getByText('All new.').waitFor()
  assert.equal(await page.evaluate(() => CSS.highlights.get('comment')?.size ?? 0), 0)
})

/** Selects words in the text like a mouse. */
async function selectWords(page, words) {
  await page.evaluate((words) => {
    const root = document.querySelector('.markdown')
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const at = node.data.indexOf(words)
      if (at < 0) continue
      const range = document.createRange()
      range.setStart(node, at)
      range.setEnd(node, at + words.length)
      getSelection().removeAllRanges()
      getSelection().addRange(range)
      node.parentElement.dispatchEvent(new PointerEvent('pointerup', { bubbles: true }))
      return
    }
    throw new Error(`no text contains ${words}`)
  }, words)
}

test('each step has an address and a history entry; a panel over the text closes when the window shrinks', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: ['# One', '# Two', '# Three'] })
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann, viewport: { width: 1280, height: 800 } })
  await page.goto('/')
  await page.getByRole('heading', { name: 'Join a workshop' }).waitFor()
  await page.goto(`/codelabs/${lab.id}`)
  const at = (title) => page.getByRole('main').getByRole('heading', { name: title, exact: true }).waitFor()
  await at('One')
  for (const [title, step] of [
    ['Two', '2'],
    ['Three', '3'],
  ]) {
    await page.keyboard.press('j')
    await at(title)
    await page.waitForURL((url) => url.searchParams.get('step') === step)
  }
  await page.goBack()
  await at('Two')
  await page.goForward()
  await at('Three')
  await page.reload()
  await at('Three')
  for (const title of ['Two', 'One']) {
    await page.goBack()
    await at(title)
  }
  await page.goBack()
  await page.getByRole('heading', { name: 'Join a workshop' }).waitFor()

  // The panel is next to the text if there is space. It covers the text only if somebody opens it.
  await page.goto(`/codelabs/${lab.id}?step=2`)
  await at('Two')
  const panel = page.getByRole('complementary', { name: 'Chat, comments, files' })
  await panel.waitFor()
  await page.setViewportSize({ width: 1060, height: 800 })
  await panel.waitFor({ state: 'hidden' })
  await page.keyboard.press('c')
  await panel.waitFor()
  await page.keyboard.press('c')
  await panel.waitFor({ state: 'hidden' })
})

long('a link to a paragraph leads there, and commands are copied without prompts and output', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const filler = 'A line of the text that is being read. '.repeat(60)
  const listing = '```console\n$ go build \\\n    -o queue .\n$ ./queue\nlistening on 8080\n```'
  const lab = await lead.codelab({ steps: ['# One', `# Two\n\n${filler}\n\n${filler}\n\nThe place that is meant.\n\n${listing}\n\n${filler}`] })
  const [ann, ben] = [await person(lab, 'Ann'), await person(lab, 'Ben')]
  const copies = (page) =>
    page.evaluate(() => {
      navigator.clipboard.writeText = async (text) => void (window.copied = text)
    })
  const copied = (page) => page.evaluate(() => window.copied)

  const { page } = await visitor({ as: ann, permissions: ['clipboard-write'] })
  await page.goto(`/codelabs/${lab.id}?step=2`)
  await page.getByText('The place that is meant.').waitFor()
  await copies(page)
  await selectWords(page, 'place that')
  await page.getByRole('button', { name: 'Copy link' }).click()
  const link = await until('the link to be copied', () => copied(page))
  assert.equal(new URL(link).search, '?step=2&at=3')
  await page.getByRole('button', { name: 'Copy 2 commands' }).click()
  assert.equal(await until('the commands to be copied', async () => (await copied(page)) !== link && copied(page)), 'go build \\\n    -o queue .\n./queue')

  // For another person, the link opens the step at that place, and the keyboard continues from
  // there.
  const other = await visitor({ as: ben, viewport: { width: 1280, height: 700 } })
  await other.page.goto(link)
  const place = other.page.getByText('The place that is meant.')
  await until('the place to have the focus', () => place.evaluate((e) => document.activeElement === e))
  await until('the place to be at the top', () =>
    place.evaluate((e) => Math.abs(e.getBoundingClientRect().top - e.closest('main').getBoundingClientRect().top) < 100),
  )
  await other.page.keyboard.press('Tab')
  assert.ok(await other.page.evaluate(() => document.activeElement.closest('.code') !== null), 'Tab does not lead to the listing after the place')
})
