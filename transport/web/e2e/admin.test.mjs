// Facilitator pages outside the live view, such as settings, results and the audit log, and screen
// sharing.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { accessible, inFirefox, onPaper, saved, section, stage, still, until } from './harness/stage.mjs'

// A language model that always gives the same answer.
const model = createServer((request, answer) => {
  request.resume()
  answer.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const part = {
    candidates: [{ content: { role: 'model', parts: [{ text: 'Because.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 70, candidatesTokenCount: 30, totalTokenCount: 100 },
  }
  answer.end(`data: ${JSON.stringify(part)}\n\n`)
})
model.listen(0, '127.0.0.1')
await once(model, 'listening')
model.unref()

const { test, long } = stage({
  env: { ATELIER_AI_BASE_URL: `http://127.0.0.1:${model.address().port}` },
  args: ['--use-fake-ui-for-media-stream'],
})

long('the AI key is set, used and removed, and a token is created and revoked', async ({ server, visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  const guest = await visitor({ as: lead })
  const { page } = guest
  await page.addInitScript(() => {
    const real = window.fetch
    window.sent = ''
    window.fetch = async (asked) => {
      if (asked.method === 'POST') window.sent += await asked.clone().text()
      return real(asked)
    }
  })
  await page.goto('/admin/settings/ai')
  await page.getByText('not set', { exact: true }).waitFor()

  // A wrong password is reported, and the key stays in its field.
  const secret = 'key-of-the-model'
  await page.getByLabel('AI key', { exact: true }).fill(secret)
  await page.getByLabel('Admin password').fill('wrong')
  guest.expect(/400/)
  await page.getByRole('button', { name: 'Set the key' }).click()
  await page.getByText('this is not the admin password').waitFor()
  assert.equal(await page.getByLabel('AI key', { exact: true }).inputValue(), secret)
  assert.equal(await page.getByLabel('Admin password').inputValue(), '')
  await page.getByLabel('Admin password').fill(server.adminPw)
  await page.getByRole('button', { name: 'Set the key' }).click()
  await page.getByText('set and ready').waitFor()
  const sent = await page.evaluate(() => window.sent)
  assert.match(sent, /"ai_api_key":"v1:/)
  assert.ok(!sent.includes(secret) && !sent.includes(server.adminPw))

  // The server can use the key, and counts its use.
  await lead.post('/ai/stream', { prompt: 'Why?', codelab_id: lab.id })
  await page.reload()
  const models = page.getByRole('region', { name: 'By model' })
  await models.getByRole('cell', { name: '100' }).waitFor()
  await page.getByRole('region', { name: 'By codelab' }).getByRole('link', { name: 'A small service' }).waitFor()
  await accessible(page)

  await page.getByRole('button', { name: 'Remove the key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the key' }).click()
  await page.getByText('not set', { exact: true }).waitFor()

  await section(page, 'API tokens')
  // A token is visible once. It has the selected rights and lifetime.
  await page.getByLabel('What is it for?').fill('reads for a week')
  await page.getByLabel('For how long?').selectOption('7 days')
  await page.getByRole('button', { name: 'Create a token' }).click()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  await page.getByRole('row').filter({ hasText: 'reads for a week' }).getByText('Read only').waitFor()
  const [short] = await lead.get('/admin/tokens')
  assert.equal(short.scope, 'read')
  assert.equal(Date.parse(short.expires_at) - Date.parse(short.created_at), 7 * 86_400_000)
  await page.getByRole('button', { name: 'Revoke reads for a week' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No tokens yet').waitFor()
  await page.getByLabel('What is it for?').fill('nightly export')
  await page.getByLabel('What may it do?').selectOption('Everything a facilitator may do')
  await page.getByLabel('For how long?').selectOption('never')
  await page.getByRole('button', { name: 'Create a token' }).click()
  const token = await page.getByRole('group', { name: 'New token: nightly export' }).getByText(/^atl_/).textContent()
  const asked = () => fetch(`${server.url}/api/admin/audit-logs`, { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((await asked()).status, 200)
  await page.getByRole('button', { name: 'I have saved it' }).click()
  assert.equal(await page.getByText(/^atl_/).count(), 0)
  await page.getByRole('row').filter({ hasText: 'nightly export' }).getByText('never').waitFor()
  await page.getByRole('button', { name: 'Revoke nightly export' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No tokens yet').waitFor()
  assert.equal((await asked()).status, 401)

  // The settings of this device.
  await section(page, 'This device')
  await page.getByLabel('Appearance', { exact: true }).selectOption('dark')
  await page.waitForFunction(() => document.documentElement.dataset.theme === 'dark')
  await page.getByLabel('Language', { exact: true }).selectOption('de')
  await page.getByRole('heading', { level: 1, name: 'Einstellungen dieses Servers' }).waitFor()
})

long('the owner sees the health of the server, a remedy, and the recovery', async ({ server, visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  const seat = await visitor({ as: lead })
  const { page } = seat
  await page.clock.install()
  await page.goto('/admin/settings')
  const health = page.getByRole('region', { name: 'Server health' })
  const line = (name) => health.getByRole('listitem').filter({ has: page.getByText(name, { exact: true }) })

  await line('People').getByText('0 connected').waitFor()
  await line('Disk writes')
    .getByText(/median .* 99th percentile/)
    .waitFor()
  await line('Disk')
    .getByText(/ of .* free/)
    .waitFor()
  const backup = line('Last backup')
  await backup.getByText('■ problem', { exact: true }).waitFor()
  await backup.getByText('there has been no backup').waitFor()
  await backup.getByText(/^What to do: make a backup each night/).waitFor()
  assert.equal(await line('TLS certificate').count(), 0)
  await accessible(page)

  // A page that stays open reloads its data automatically.
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  await guest.page.goto(`/codelabs/${lab.id}`)
  await until('the server to count one person', async () => (await lead.get('/admin/health')).people.here === 1)
  await server.command('backup', 'b.atelier')
  await until('the page to show the person', async () => {
    await page.clock.runFor(10_000)
    return (await line('People').getByText('1 connected').count()) === 1 && (await backup.getByText('problem').count()) === 0
  })
  await backup.getByText(/minutes ago/).waitFor()
  await backup.getByText('● OK', { exact: true }).waitFor()
  assert.equal(await backup.getByText('What to do:').count(), 0)

  // Without the server, the loaded data stays visible, with its age.
  seat.expect(/ERR_FAILED/)
  await page.route('**/api/admin/health', (asked) => asked.abort())
  await page.clock.runFor(10_000)
  await health.getByText(/the server cannot be reached just now/).waitFor()
  assert.equal(await line('People').getByText('1 connected').count(), 1)
})

/** Creates a codelab with three people, of whom two have completed it. */
async function taught({ facilitator, person }) {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service', quiz_enabled: true, steps: ['# Set up\n\nText.', '# Write it\n\nText.', '# Run it\n\nText.'] })
  await lead.put(`/codelabs/${lab.id}/quizzes`, [
    { question: 'What listens?', quiz_type: 'multiple_choice', options: ['A client', 'A server'], correct_answer: 1 },
    { question: 'Why?', quiz_type: 'descriptive' },
  ])
  const [choice, free] = await lead.get(`/codelabs/${lab.id}/quizzes`)
  const people = []
  for (let i = 0; i < 3; i++) {
    const one = await person(lab, `Attendee ${i + 1}`)
    people.push(one)
    const say = (step_number) => one.say(lab, { type: 'step_progress', step_number })
    await say(2)
    // The first person answers wrong and then corrects the answer.
    if (i === 0) await one.post(`/codelabs/${lab.id}/quizzes/submit`, { submissions: [{ quiz_id: choice.id, answer: '0' }] })
    await one.post(`/codelabs/${lab.id}/quizzes/submit`, {
      submissions: [
        { quiz_id: choice.id, answer: i === 0 ? '1' : '0' },
        { quiz_id: free.id, answer: `Because of ${i + 1}` },
      ],
    })
    if (i === 2) continue
    await say(3)
    await one.post(`/codelabs/${lab.id}/feedback`, { difficulty: '2', satisfaction: i === 0 ? '5' : '4', comment: i === 0 ? 'Clear and short.' : '' })
    await one.post(`/codelabs/${lab.id}/complete`)
  }
  const file = (name, type, content) => {
    const form = new FormData()
    form.append('file', new Blob([content], { type }), name)
    return people[0].post(`/codelabs/${lab.id}/attendees/${people[0].id}/submissions`, form)
  }
  await file('main.go', 'text/plain', 'package main')
  await file(
    'picture.png',
    'image/png',
    Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64'),
  )
  await people[1].post(`/codelabs/${lab.id}/attendees/${people[1].id}/submissions/link`, { url: 'https://example.org/mine', title: 'My solution' })
  await people[0].post('/ai/conversations', {
    codelab_id: lab.id,
    step_number: 2,
    question: 'Why is it refused?',
    answer: 'Nothing **listens** there.',
    model: 'gemini-2.5-flash',
  })
  return { lead, lab, people }
}

test(
  'the results show attendance, quiz, feedback, work, questions and certificates, and draw a person',
  async (scene) => {
    const { lead, lab, people } = await taught(scene)
    const { page } = await scene.visitor({ as: lead, reducedMotion: 'reduce' })
    await page.goto(`/admin/${lab.id}/results`)
    const tab = (name) => page.getByRole('tab', { name }).click()
    const download = async (name) => {
      const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name }).click()])
      assert.equal(await file.failure(), null)
      return file.suggestedFilename()
    }

    await page.getByText('3 people joined').waitFor()
    const heat = page.getByRole('region', { name: 'Where people were, and when' })
    await until('the last column to count everybody', async () => {
      const last = heat.locator('tbody tr td:last-child')
      const counts = (await last.allTextContents()).map(Number)
      return counts.join() === '0,1,0,2'
    })
    const steps = page.getByRole('region', { name: 'How far people came' })
    assert.match(await steps.getByRole('row', { name: /Run it/ }).textContent(), /67/)
    await page.getByRole('region', { name: 'Person by person' }).getByRole('rowheader', { name: 'Attendee 3' }).waitFor()
    assert.match(await download('Download CSV'), /attendance.*\.csv$/)

    // The file counts as an export in the audit log. Viewing the page does not.
    const exports = async () => (await lead.get('/admin/audit-logs?limit=200')).filter((r) => JSON.stringify(r).includes('attendance')).length
    assert.equal(await exports(), 1)
    await tab('Draw')
    await tab('Attendance')
    await heat.first().waitFor()
    assert.equal(await exports(), 1)
    await accessible(page)

    await tab('Quiz')
    await page.getByText('33% right').waitFor()
    await page.getByText('At first 0% were right; changed by 1 person.').waitFor()
    await page.getByText('Most common wrong answer: A client (2 people)').waitFor()
    await page.getByText('Because of 3').waitFor()
    assert.match(await download('Download CSV'), /quiz.*\.csv$/)
    await accessible(page)

    await tab('Feedback')
    await page.getByText('average 4.5 of 5').waitFor()
    await page.getByText('Clear and short.').waitFor()
    assert.match(await download('Download CSV'), /feedback.*\.csv$/)
    await accessible(page)

    await tab('Summary')
    await page.getByRole('row', { name: /Run it/ }).waitFor()
    assert.equal(await page.getByText('Clear and short.').count(), 0)
    await page.getByRole('checkbox', { name: /With what people wrote/ }).check()
    await page.getByText('Clear and short.').waitFor()
    await accessible(page)
    // The printed page has the workshop's title and no controls.
    await onPaper(page, async () => {
      await page.locator('article').getByRole('heading', { level: 1 }).waitFor()
      assert.deepEqual([await page.getByRole('tablist').isVisible(), await page.getByRole('button', { name: /^Print/ }).isVisible()], [false, false])
    })

    await tab('Work')
    await page.getByText('3 things by 2 people').waitFor()
    await page.getByRole('button', { name: 'Look at main.go' }).click()
    await page.getByRole('dialog').getByText('package main').waitFor()
    await page.keyboard.press('Escape')
    await until('the thumbnail to be drawn', () =>
      page.locator('.picture canvas').evaluate((canvas) => {
        const blank = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height })
        return canvas.toDataURL() !== blank.toDataURL()
      }),
    )
    await page.getByRole('button', { name: 'Look at picture.png' }).click()
    await until('the picture to be drawn', () =>
      page
        .getByRole('dialog')
        .locator('img')
        .evaluate((img) => img.naturalWidth > 0),
    )
    await accessible(page)
    await page.keyboard.press('Escape')
    assert.equal(await page.getByRole('link', { name: 'My solution' }).getAttribute('href'), 'https://example.org/mine')
    assert.match(await download('Download all as one ZIP'), /\.zip$/)

    await tab('AI questions')
    await page.getByText('Why is it refused?').click()
    await page.locator('strong', { hasText: 'listens' }).waitFor()
    await accessible(page)

    await tab('Certificates')
    assert.equal(await page.getByRole('link', { name: 'Certificate of Attendee 1' }).getAttribute('href'), `/certificate/${people[0].id}`)
    await accessible(page)

    // Two people have completed, so each is drawn once, and then nobody is left.
    await tab('Draw')
    await page.getByRole('button', { name: 'Draw', exact: true }).click()
    await page.getByRole('button', { name: 'Draw another' }).click()
    await page.getByText('0 names in the draw').waitFor()
    const drawn = page.getByRole('listitem')
    assert.deepEqual((await drawn.allTextContents()).sort(), ['Attendee 1', 'Attendee 2'])
    assert.ok(await page.getByRole('button', { name: 'Draw another' }).isDisabled())
    await accessible(page)

    // The draw is stored on the device. With motion, the names run and stop.
    await page.emulateMedia({ reducedMotion: 'no-preference' })
    await page.reload()
    await until('the drawn people to be listed again', async () => (await drawn.count()) === 2)
    await page.getByRole('button', { name: 'Start over' }).click()
    await page.getByRole('button', { name: 'Draw', exact: true }).click()
    await page.getByRole('button', { name: 'Draw another' }).waitFor()
    await until('one person to be drawn', async () => (await drawn.count()) === 1)
  },
  { chromium: 'content processes of Firefox 153 crash when tables are searched by role' },
)

test('the projector shows how to join and where the workshop is, and no names', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  const { page } = await visitor({ as: lead })
  await page.goto(`/admin/${lab.id}/projector`)
  await page.getByRole('heading', { level: 1, name: 'A small service' }).waitFor()
  await page.getByRole('img', { name: 'QR code: join this workshop' }).waitFor()
  await page.getByText('0 people here').waitFor()
  const code = await page.getByRole('main').innerText()
  assert.ok(code.includes(lab.join_code.slice(0, 3)) && code.includes(lab.join_code.slice(3)), code)

  // Changes are shown immediately.
  const ann = await visitor({ as: await person(lab, 'Attendee 1') })
  await ann.page.goto(`/codelabs/${lab.id}`)
  await page.getByText('1 person here').waitFor()
  const figure = page.locator('.here b')
  assert.equal(await figure.innerText(), '1')
  assert.ok(Number(await figure.evaluate((e) => getComputedStyle(e).fontWeight)) >= 600, 'the number is not bold')
  await lead.say(lab, { type: 'pointer', step_number: 2 })
  await page.getByText('We are at step 2 of 3').waitFor()
  await page.getByText('Two', { exact: true }).waitFor()
  await lead.put(`/codelabs/${lab.id}/pin`, { message: 'Lunch at noon' })
  await page.getByText('Lunch at noon').waitFor()
  await ann.page.getByLabel('Write to everybody').waitFor({ state: 'attached' })
  assert.equal(await page.getByText('Attendee 1').count(), 0)
  await accessible(page)

  if (!inFirefox) {
    // Without a window, Firefox has no full-screen mode.
    await page.getByRole('button', { name: 'Full screen' }).click()
    await page.getByRole('button', { name: 'Leave full screen' }).click()
    await page.getByRole('button', { name: 'Full screen' }).waitFor()
  }
  await lead.post(`/codelabs/${lab.id}/end`, { ended: true })
  await page.getByText('The workshop has ended').waitFor()
})

long('a participant of the tokenization handler is added, changes its key and is disabled', async ({ server, visitor, facilitator }) => {
  const lead = await facilitator()
  const { page } = await visitor({ as: lead })
  await page.goto('/admin/participants')
  await page.getByText('No participants yet').waitFor()
  const add = async (name, kind, ...scopes) => {
    await page.getByRole('button', { name: 'Add a participant' }).click()
    const form = page.getByRole('form', { name: 'Add a participant' })
    await form.getByLabel('Name').fill(name)
    await form.getByLabel('Kind').selectOption(kind)
    for (const s of ['tokenize', 'detokenize']) await form.getByLabel(`(${s})`).setChecked(scopes.includes(s))
    await form.getByRole('button', { name: 'Add a participant' }).click()
    const secret = await page
      .getByRole('group', { name: `New key of ${name}` })
      .getByText(/^ak_live_/)
      .textContent()
    await page.getByRole('button', { name: 'I have saved it' }).click()
    assert.equal(await page.getByText(/^ak_live_/).count(), 0)
    return secret
  }
  const shop = await add('The shop', 'business', 'tokenize', 'detokenize')
  await add('The payment provider', 'psp', 'detokenize')
  const [one, other] = await lead.get('/admin/participants')
  const ask = (path, key, body) =>
    fetch(`${server.url}/handler/${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    })
  const card = {
    credential: { type: 'card', card_number_type: 'fpan', number: '4242424242424242', expiry_month: 12, expiry_year: 2030 },
    binding: { checkout_id: 'c1' },
  }
  assert.equal((await ask('tokenize', shop, card)).status, 200)

  // A new participant's row is expanded. After a reload all rows are collapsed.
  await page.reload()
  await page.getByText('The shop', { exact: true }).click()
  await page.getByText(one.identity).waitFor()
  await page.getByLabel('Let another act for it').selectOption({ label: 'The payment provider' })
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('button', { name: 'Revoke the grant of The payment provider' }).waitFor()
  assert.deepEqual((await lead.get('/admin/participants'))[0].delegates, [other.id])
  await page.getByLabel('Acknowledged version').fill('1')
  await page.getByRole('button', { name: 'Record it' }).click()
  await page.getByText(/Version 1, recorded/).waitFor()
  await page.getByLabel('Tokens are valid').selectOption('ttl')
  await page.getByLabel('Minutes').fill('45')
  await page.getByRole('button', { name: 'Set the policy' }).click()
  await page.getByText('Enter a number of minutes from 1 to 30').waitFor()
  await page.getByLabel('Minutes').fill('10')
  await page.getByRole('button', { name: 'Set the policy' }).click()
  await page.getByText('for a time (ttl), for 10 minutes').waitFor()
  await accessible(page)
  await page.getByRole('button', { name: 'Revoke the grant' }).click()
  await page.getByText('Only itself.').waitFor()

  // Adds a second key and removes the first.
  await page.getByRole('button', { name: 'New key' }).click()
  const second = await page
    .getByRole('group', { name: 'New key of The shop' })
    .getByText(/^ak_live_/)
    .textContent()
  await page.getByRole('button', { name: `Remove key ${one.keys[0].id}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
  await until('the first key to be refused', async () => (await ask('tokenize', shop, card)).status === 401)
  assert.equal((await ask('tokenize', second, card)).status, 200)
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('It is disabled').waitFor()
  assert.notEqual((await ask('tokenize', second, card)).status, 200)
})

long('the audit log can be filtered and opened, and older records can be loaded', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Audited' })
  const ann = await person(lab, 'Attendee 1')
  await ann.post(`/codelabs/${lab.id}/feedback`, { difficulty: '1', satisfaction: '5' })
  for (let i = 0; i < 60; i++) await lead.put(`/codelabs/${lab.id}/pin`, { message: `Note ${i}` })
  const { page } = await visitor({ as: lead })
  await page.goto('/admin/audit-logs')
  const list = page.getByRole('list', { name: 'Records' })
  await list.getByText('Note pinned').first().waitFor()
  assert.equal(await list.getByRole('listitem').count(), 50)
  await page.getByRole('button', { name: 'Older records' }).click()
  await list.getByText('Codelab created').first().waitFor()

  // Filters by action and codelab, by actor, and by a word.
  await page.getByLabel('Codelab').selectOption({ label: 'Audited' })
  await page.getByLabel('What happened').selectOption({ label: 'Joined' })
  await until('one record to be left', async () => (await list.getByRole('listitem').count()) === 1)
  await list.getByText('Joined').click()
  await list.getByText(ann.id).first().waitFor()
  await list.getByText('Attendee 1', { exact: true }).waitFor()
  const table = await saved(page, () => page.getByRole('button', { name: 'Download CSV' }).click())
  const [, row, ...more] = table.toString().trim().split('\r\n')
  assert.match(row, /"attendee_register","Joined",.*,"Audited","[^"]+","Attendee 1"/)
  assert.deepEqual(more, [])
  await accessible(page)
  await page.getByLabel('What happened').selectOption({ label: 'anything' })
  await page.getByLabel('Who').selectOption({ label: 'Attendee' })
  await until('only the records of attendees to be listed', async () => (await list.getByRole('listitem').count()) === 1)
  await page.getByLabel('Text').fill('no such word')
  await page.getByText('No record matches').waitFor()
  await page.getByRole('button', { name: 'Show everything' }).click()
  await until('all records to be listed again', async () => (await list.getByRole('listitem').count()) === 50)
})

/** Gives a page a changing canvas as its screen to share, since a test cannot select a screen. */
const screenOf = (page) =>
  page.addInitScript(() => {
    window.captures = 0
    if (!navigator.mediaDevices) return // a page that has not been opened yet
    navigator.mediaDevices.getDisplayMedia = async () => {
      window.captures++
      const canvas = document.createElement('canvas')
      canvas.width = 640
      canvas.height = 360
      const paint = canvas.getContext('2d')
      let n = 0
      setInterval(() => {
        paint.fillStyle = `hsl(${n++ % 360} 80% 50%)`
        paint.fillRect(0, 0, 640, 360)
      }, 50)
      return canvas.captureStream(15)
    }
  })

/** Waits until frames of another person's screen arrive. */
const watches = (page) => until('the video to play', () => page.locator('video').evaluate((v) => v.videoWidth > 0 && !v.paused && v.currentTime > 0.2))

long('an attendee who agrees shares their screen, and a facilitator shares theirs', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator('Grace')
  const lab = await lead.codelab({ title: 'Screens' })
  const [ann, ben] = [await person(lab, 'Attendee 1'), await person(lab, 'Attendee 2')]
  const [desk, one, two] = [await visitor({ as: lead }), await visitor({ as: ann }), await visitor({ as: ben })]
  for (const v of [desk, one]) await screenOf(v.page)
  await desk.page.goto(`/admin/${lab.id}`)
  for (const v of [one, two]) {
    await v.page.goto(`/codelabs/${lab.id}`)
    await v.page.getByRole('heading', { name: 'One' }).waitFor()
  }
  const open = async () => {
    await desk.page.getByRole('main').getByText('Attendee 1').first().click()
    return desk.page.getByRole('dialog', { name: 'Attendee 1' })
  }

  // Screen messages from other programs have no effect.
  await lead.say(lab, { type: 'screen_share_status', active: true })
  await lead.say(lab, { type: 'webrtc_signal', target_id: ann.id, signal: { type: 'offer', sdp: 'v=0' } })
  await ann.say(lab, { type: 'attendee_screen_status', status: 'sharing' })

  // The first request is declined, the second accepted. The screen then opens automatically for the
  // facilitator.
  let dialog = await open()
  await dialog.getByRole('button', { name: 'Ask to see the screen' }).click()
  await one.page.getByText('Grace asks to see your screen').waitFor()
  assert.equal(await one.page.evaluate(() => window.captures), 0)
  await accessible(one.page)
  await one.page.getByRole('button', { name: 'Not now' }).click()
  await dialog.getByText('They do not want to show their screen now').waitFor()
  await dialog.getByRole('button', { name: 'Ask again' }).click()
  await one.page.getByRole('button', { name: 'Show my screen' }).click()
  await desk.page.getByRole('dialog', { name: 'Screen of Attendee 1' }).waitFor()
  await watches(desk.page)
  await one.page.getByText('You are sharing your screen with Grace').waitFor()
  await one.page.getByText('Now: Grace').waitFor()
  await accessible(desk.page)
  assert.equal(await two.page.getByText('is sharing their screen').count(), 0)

  // Closing ends the share only for the viewer. Stopping ends it for everybody.
  const view = desk.page.getByRole('dialog', { name: 'Screen of Attendee 1' })
  await view.locator('footer').getByRole('button', { name: 'Close' }).click()
  await one.page.getByText('Nobody is watching yet').waitFor()
  await dialog.getByRole('button', { name: 'Watch' }).click()
  await watches(desk.page)
  await one.page.getByRole('button', { name: 'Stop' }).click()
  await view.getByText('Attendee 1 stopped sharing their screen').waitFor()
  await view.locator('footer').getByRole('button', { name: 'Close' }).click()
  await dialog.getByRole('button', { name: 'Close' }).first().click()

  // An attendee who is being helped can show their screen without a request.
  await ann.post(`/codelabs/${lab.id}/help`, { step_number: 1 })
  await desk.page.getByRole('button', { name: 'Take', exact: true }).click()
  await one.page.getByRole('button', { name: 'Show my screen to Grace' }).click()
  await desk.page.getByText('Attendee 1 is sharing their screen').waitFor()
  await desk.page.getByRole('button', { name: 'Watch' }).click()
  await watches(desk.page)

  // The share ends when the page closes. Firefox closes a page's connections before the page can
  // announce that it is closing.
  if (inFirefox) desk.expect(/ICE failed/)
  await one.page.goto('/')
  await desk.page.getByText(inFirefox ? 'The direct connection to Attendee 1 failed' : 'Attendee 1 stopped sharing their screen').waitFor()
  await view.locator('footer').getByRole('button', { name: 'Close' }).click()

  // The facilitator shares a screen. Attendees who join later also see the notice.
  await desk.page.getByRole('banner').getByRole('button', { name: 'More', exact: true }).click()
  await desk.page.getByRole('menuitem', { name: 'Show my screen' }).click()
  await desk.page.getByText('Up to 8 can watch').waitFor()
  await two.page.getByText('Grace is sharing their screen').waitFor()
  await one.page.goto(`/codelabs/${lab.id}`)
  await one.page.getByText('Grace is sharing their screen').waitFor()
  for (const v of [one, two]) {
    await v.page.getByRole('button', { name: 'Watch' }).click()
    await watches(v.page)
  }
  await desk.page.getByText('2 of at most 8').waitFor()
  await accessible(two.page)
  await desk.page.getByRole('button', { name: 'Stop' }).click()
  for (const v of [one, two]) await v.page.getByText('Grace stopped sharing their screen').waitFor()
})

long('the items of an open menu stay while the page loads', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor({ as: lead })
  let answer = () => {}
  const asked = new Promise((done) => (answer = done))
  await page.route(`**/api/codelabs/${lab.id}?*`, async (route) => {
    await asked
    await route.continue()
  })
  await page.goto(`/admin/${lab.id}`)
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const items = page.getByRole('menuitem')
  await page.getByRole('menuitem', { name: 'Show my screen' }).waitFor()
  const before = await items.allInnerTexts()
  answer()
  await still(page)
  assert.deepEqual(await items.allInnerTexts(), before)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'End the workshop' }).waitFor()
})

long('over plain HTTP the app shows which features need HTTPS', async ({ visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor({ as: lead })
  // Without https, browsers offer these features only on localhost.
  await page.addInitScript(() => {
    Object.defineProperty(Crypto.prototype, 'subtle', { value: undefined })
    Object.defineProperty(Crypto.prototype, 'randomUUID', { value: undefined })
    Object.defineProperty(Navigator.prototype, 'mediaDevices', { value: undefined })
  })
  await page.goto('/admin/settings/ai')
  await page.getByText('Setting the key needs https').waitFor()
  assert.equal(await page.getByLabel('AI key', { exact: true }).count(), 0)
  await page.goto(`/admin/${lab.id}`)
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Show my screen' }).click()
  await page.getByText('Showing the screen needs https').waitFor()
})
