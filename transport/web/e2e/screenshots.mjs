// Pictures of every screen, wide, half and small, light and dark, of a workshop
// with people in it who vote and ask. They are in out/screens.
//
//   make screenshots
//   node screenshots.mjs reader live     only these
import { mkdir, readFile } from 'node:fs/promises'
import { openBrowser, Visitor } from './harness/browser.mjs'
import { Person } from './harness/people.mjs'
import { Server } from './harness/server.mjs'

const out = new URL('./out/screens/', import.meta.url)
const sizes = { wide: { width: 1440, height: 900 }, half: { width: 800, height: 900 }, small: { width: 390, height: 844 } }

const server = await new Server({ ATELIER_LIMITS_QUESTIONS_SECONDS: '0' }).start()
const browser = await openBrowser()
try {
  await mkdir(out, { recursive: true })
  const { lab, lead, people } = await workshop()
  const [ann] = people
  // The person who sees each screen, and its address.
  const screens = {
    home: [null, '/'],
    login: [null, '/login'],
    join: [null, lab.join_code ? `/j/${lab.join_code}` : `/codelabs/${lab.id}`],
    reader: [people[4], `/codelabs/${lab.id}`],
    certificate: [ann, `/certificate/${ann.id}`],
    verify: [null, `/verify/${ann.id}`],
    missing: [null, '/nothing'],
    codelabs: [lead, '/admin'],
    live: [lead, `/admin/${lab.id}`],
    person: [lead, `/admin/${lab.id}`, undefined, person],
    edit: [lead, `/admin/${lab.id}/edit`],
    results: [lead, `/admin/${lab.id}/results`],
    settings: [lead, `/admin/${lab.id}/settings`],
    projector: [lead, `/admin/${lab.id}/projector`],
    'reader-poll': [people[4], `/codelabs/${lab.id}`, () => openPoll(lead, lab, 0)],
    'reader-poll-result': [people[3], `/codelabs/${lab.id}`, () => showPoll(lead, lab, people)],
    'reader-scale': [people[4], `/codelabs/${lab.id}`, () => openPoll(lead, lab, 2)],
    'reader-words': [people[4], `/codelabs/${lab.id}`, () => openPoll(lead, lab, 1)],
    'reader-minute-card': [people[4], `/codelabs/${lab.id}`, () => openPoll(lead, lab, 3)],
    'reader-questions': [people[4], `/codelabs/${lab.id}`, undefined, (page, size) => panel(page, size, 'Q&A')],
    'live-polls': [lead, `/admin/${lab.id}`, () => showPoll(lead, lab, people), (page, size) => side(page, size, 'Polls')],
    'live-minute-card': [lead, `/admin/${lab.id}`, () => answerCard(lead, lab, people), card],
    'live-poll-new': [lead, `/admin/${lab.id}`, undefined, writing],
    'live-questions': [lead, `/admin/${lab.id}`, undefined, (page, size) => side(page, size, /^Questions/)],
    'live-timer': [lead, `/admin/${lab.id}`, undefined, (page, size) => side(page, size, 'Timer')],
    'projector-poll': [lead, `/admin/${lab.id}/projector`, () => showPoll(lead, lab, people, 'poll')],
    'projector-minute-card': [
      lead,
      `/admin/${lab.id}/projector`,
      () => openPoll(lead, lab, 3).then(({ id }) => lead.put(`/codelabs/${lab.id}/spotlight`, { kind: 'poll', id })),
    ],
    'projector-question': [lead, `/admin/${lab.id}/projector`, () => spotQuestion(lead, lab)],
    'projector-timer': [lead, `/admin/${lab.id}/projector`, () => lead.put(`/codelabs/${lab.id}/spotlight`, { kind: 'timer' })],
    'results-polls': [lead, `/admin/${lab.id}/results`, undefined, (page) => page.getByRole('tab', { name: 'Polls' }).click()],
    'results-summary': [lead, `/admin/${lab.id}/results`, undefined, (page) => page.getByRole('tab', { name: 'Summary' }).click()],
    'audit-logs': [lead, '/admin/audit-logs'],
    participants: [lead, '/admin/participants'],
    'server-settings': [lead, '/admin/settings'],
  }
  const only = process.argv.slice(2)
  for (const [name, [as, path, before, after]] of Object.entries(screens)) {
    if (only.length && !only.includes(name)) continue
    await before?.()
    for (const [size, viewport] of Object.entries(sizes)) {
      for (const colorScheme of ['light', 'dark']) {
        const { context, page, problems } = await Visitor.open(browser, server, { as, viewport, colorScheme, reducedMotion: 'reduce' })
        await page.goto(path)
        await page.waitForLoadState('networkidle')
        await after?.(page, size)
        await page.waitForLoadState('networkidle')
        await page.screenshot({ path: new URL(`${name}-${size}-${colorScheme}.png`, out).pathname })
        for (const text of problems) console.log(`${name}: ${text}`)
        await context.close()
      }
    }
    console.log(name)
  }
  console.log(`pictures are in ${out.pathname}`)
} finally {
  await browser.close()
  await server.remove()
}

/** Resets one of the polls of the workshop and opens it. */
async function openPoll(lead, lab, which) {
  await lead.put(`/codelabs/${lab.id}/spotlight`, { kind: null })
  const poll = lab.polls[which]
  await lead.post(`/codelabs/${lab.id}/polls/${poll.id}/reset`).catch(() => {})
  return lead.post(`/codelabs/${lab.id}/polls/${poll.id}/open`, {})
}

/** The first poll, answered by most, shown, and on the projector when that is said. */
async function showPoll(lead, lab, people, kind = null) {
  const { id, round } = await openPoll(lead, lab, 0)
  for (const [i, one] of people.slice(0, 10).entries())
    await one.put(`/codelabs/${lab.id}/polls/${id}/vote`, { round, choice: [[1, 1, 0, 1, 2, 1, 3, 0, 1, 2][i]] })
  await lead.post(`/codelabs/${lab.id}/polls/${id}/show`, { shown: true })
  if (kind) await lead.put(`/codelabs/${lab.id}/spotlight`, { kind, id })
}

/** The minute card, answered and closed. */
async function answerCard(lead, lab, people) {
  const { id, round, options } = await openPoll(lead, lab, 3)
  const learned = ['channels block', 'what a goroutine costs', 'select', 'to close on the sending side', 'go vet', 'contexts']
  for (const [i, one] of people.slice(0, 6).entries())
    await one.put(`/codelabs/${lab.id}/polls/${id}/vote`, { round, text: `${options[0]}: ${learned[i]}\n${options[1]}: ${learned[5 - i]}` })
  await lead.post(`/codelabs/${lab.id}/polls/${id}/close`)
}

async function spotQuestion(lead, lab) {
  const all = await lead.get(`/codelabs/${lab.id}/questions`)
  await lead.put(`/codelabs/${lab.id}/spotlight`, { kind: 'question', id: all.find((q) => q.anonymous).id })
}

/** Opens a tab of the reader's panel. */
async function panel(page, size, name) {
  if (size === 'small') await page.getByRole('navigation', { name: 'Steps, chat and help' }).getByRole('button', { name: 'Chat' }).click()
  else if (size === 'half') await page.getByRole('button', { name: 'Chat, comments, files' }).click()
  await page.getByRole('tab', { name }).click()
}

/** Opens a tab beside the live view. */
async function side(page, size, name) {
  if (size !== 'wide') await page.getByRole('button', { name: /^Help( \d+)?$/ }).click()
  await page.getByRole('tab', { name }).click()
}

/** Opens the person who waits the longest. */
async function person(page) {
  await page
    .getByRole('button', { name: /^Attendee 2/ })
    .first()
    .click()
  await page.getByText('Time on each step').waitFor()
}

async function card(page, size) {
  await side(page, size, 'Polls')
  await page.locator('summary').filter({ hasText: 'Minute card' }).click()
  await page.getByRole('list', { name: 'Answers' }).waitFor()
}

async function writing(page, size) {
  await side(page, size, 'Polls')
  await page.getByRole('button', { name: 'New poll' }).click()
  await page.getByLabel('Question and answers').fill('What prints 42?\n- fmt.Print(6 * 7)\n- [x] both of them\n- println(42)')
}

/** A workshop of twelve, in the middle of the codelab of the demo. */
async function workshop() {
  const lead = await new Person(server).login()
  const form = new FormData()
  form.append('file', new Blob([await readFile(new URL('./first-service/codelab.md', import.meta.url))]), 'codelab.md')
  const { id } = await lead.post('/codelabs/import', form)
  await lead.put(`/codelabs/${id}`, { is_public: true, quiz_enabled: true })
  await lead.put(`/codelabs/${id}/quizzes`, JSON.parse(await readFile(new URL('./first-service/quizzes.json', import.meta.url))))
  const people = []
  for (let i = 0; i < 12; i++) {
    const one = await new Person(server).register({ id }, `Attendee ${i + 1}`)
    people.push(one)
    for (let step = 2; step < [5, 2, 3, 3, 3, 4, 3, 2, 3, 1, 4, 3][i]; step++) await one.say({ id }, { type: 'step_progress', step_number: step })
    await one.say({ id }, { type: 'step_progress', step_number: [5, 2, 3, 3, 3, 4, 3, 2, 3, 1, 4, 3][i] })
    const state = ['fine', 'stuck', null, 'slow', 'fine', 'fine', 'stuck', null, 'slow', null, null, 'fine'][i]
    if (state) await one.say({ id }, { type: 'pulse', state })
  }
  await people[1].post(`/codelabs/${id}/help`, { step_number: 2, message: 'address already in use' })
  await people[6].post(`/codelabs/${id}/help`, { step_number: 3 })
  for (const [i, message] of [
    [2, 'Does it matter which version of Go I have?'],
    [5, '101, it works!'],
    [8, 'Why not a sync.Map?'],
  ]) {
    await people[i].say({ id }, { type: 'chat', message })
  }
  await people[0].post(`/codelabs/${id}/feedback`, { difficulty: '3', satisfaction: '5', comment: 'Clear and short.' })
  await people[0].post(`/codelabs/${id}/complete`)
  await lead.put(`/codelabs/${id}`, { questions: 'checked' })
  const asked = []
  for (const [i, text, anonymous] of [
    [2, 'Can we get the slides afterwards?', false],
    [5, 'Why does the race detector say nothing when I only read?', true],
    [8, 'Is there a version of this for Windows?', false],
    [9, 'What is a slice?', false],
  ]) {
    asked.push(await people[i].post(`/codelabs/${id}/questions`, { text, anonymous }))
  }
  for (const q of asked.slice(0, 3)) await lead.put(`/codelabs/${id}/questions/${q.id}`, { state: 'open' })
  for (const [i, q] of [0, 1, 3, 4, 6].flatMap((i) => asked.slice(0, i % 2 ? 2 : 1).map((q) => [i, q])))
    await people[i].put(`/codelabs/${id}/questions/${q.id}/vote`)
  await lead.put(`/codelabs/${id}/questions/${asked[2].id}`, { state: 'answered', answer: 'Yes: it builds there as it is.' })
  const polls = []
  for (const poll of [
    { kind: 'choice', question: 'Which editor do you use?', options: ['Vim', 'VS Code', 'GoLand', 'another one'] },
    { kind: 'words', question: 'What comes to mind when you hear Go?', options: [] },
    { kind: 'scale', question: 'How sure do you feel about channels?', options: ['not at all', 'completely'], anonymous: true },
    { kind: 'text', question: 'Minute card', options: ['One thing I learned', 'One thing still unclear'], anonymous: true },
  ]) {
    polls.push(await lead.post(`/codelabs/${id}/polls`, poll))
  }
  await lead.put(`/codelabs/${id}/timer`, { seconds: 3000, label: 'Exercise 2: the handler', kind: 'exercise' })
  const [read] = await lead.get(`/codelabs/${id}`)
  const lab = { ...read, polls }
  return { lab, lead, people }
}
