// Captures each screen and state of the app, light and dark, on a laptop and a phone. The pictures
// are on the page dist/looks/index.html. With a folder of stills, which are the designs of the
// screens, each picture is next to its still.
//
//   make screenshots
//   make screenshots STILLS=FOLDER
//   node looks.mjs live-a home          only these screens
//   LOOK=de node looks.mjs home         in another language
import { setMaxListeners } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { openBrowser, still as settled, Visitor } from './harness/browser.mjs'
import { each, listen, unlimited } from './harness/crowd.mjs'
import { Person } from './harness/people.mjs'
import { age, crowd, rooms as guestsOf, steps as course } from './harness/room.mjs'
import { Server } from './harness/server.mjs'

const out = new URL('../../../dist/looks/', import.meta.url)
const stills = process.env.STILLS ? pathToFileURL(`${resolve(process.env.STILLS)}/`) : null
/** The simulated people of all rooms, by the id of the attendee. */
const guests = new Map()
const language = process.env.LOOK ?? 'en-GB'
const only = process.argv.slice(2)
const sizes = { 1366: { width: 1366, height: 768 }, 375: { width: 375, height: 812 } }
/** Additional sizes of some screens. */
const further = { 1920: { width: 1920, height: 1080 }, 683: { width: 683, height: 768 } }

const question = 'If the process dies between the rename and the second fsync, can a job be lost or only be done twice?'
const pinned = 'Wi-Fi: workshop, password queue2026'

const server = await new Server({ ...unlimited, ATELIER_LIMITS_QUESTIONS_SECONDS: '0', ATELIER_LIMITS_MESSAGES_PER_SECOND: '0' }).start()
const browser = await openBrowser()
const gone = new AbortController()
setMaxListeners(0, gone.signal) // each listening person adds a listener to the signal
try {
  await mkdir(out, { recursive: true })
  const lead = await new Person(server).login('Lea Brandt')
  const helper = await new Person(server).login('Farid')
  // The first start of a server, which has no codelabs yet.
  await shoot('home-first', { still: 'home.html?state=first', as: lead, path: '/admin' })
  const rooms = {}
  /** The room of a state. It is created at its first use. */
  const room = (state) => (rooms[state] ??= workshop(state))

  for (const state of ['a', 'b', 'c', 'd']) {
    if (!wanted(`live-${state}`)) continue
    const { lab } = await room(state)
    await shoot(`live-${state}`, {
      still: `live.html?state=${state}`,
      as: lead,
      path: `/admin/${lab.id}`,
      more: ['1920'],
      after: state === 'd' ? (page) => page.getByText('Nobody has joined yet').waitFor() : (page) => page.locator('[data-stop]').first().waitFor(),
    })
  }

  const { lab, people, polls, questions } = await room('b')
  const live = `/admin/${lab.id}`
  const open = (page) => page.getByRole('button', { name: /^Yusuf Demir/ }).first()
  const person = async (page) => {
    await open(page).click()
    await page.getByText('Time on each step').waitFor()
  }
  const [help] = (await lead.get(`/codelabs/${lab.id}/help`)).filter((h) => h.attendee_name === 'Yusuf Demir')
  await shoot('person', { still: 'person.html', as: lead, path: live, after: person, notOn: ['375'] })
  await shoot('person-menu', {
    still: 'person.html?state=menu',
    as: lead,
    path: live,
    notOn: ['375'],
    after: async (page) => {
      await person(page)
      await page.locator('aside').getByRole('button', { name: /^More/ }).first().click()
    },
  })
  await shoot('keys', { still: 'keys.html', as: lead, path: live, after: (page) => page.keyboard.press('?') })

  const me = people.get('Maya Cohen')
  const reader = `/codelabs/${lab.id}?step=3`
  const show = async (kind, id) => lead.put(`/codelabs/${lab.id}/spotlight`, { kind, ...(id ? { id } : {}) })
  const feels = async (page) => {
    const fine = page.getByRole('button', { name: 'Fine', exact: true }).filter({ visible: true })
    if (language === 'en-GB' && (await fine.getAttribute('aria-pressed')) === 'false') await fine.click()
  }
  const calm = { as: me, path: reader, more: ['683'], after: feels }
  await shoot('keys-attendee', { still: 'keys.html?state=attendee', as: me, path: reader, after: (page) => page.keyboard.press('?') })
  await lead.say(lab, { type: 'chat', message: 'With one worker it changes nothing. Keep it: from two on it does.' })
  await lead.put(`/codelabs/${lab.id}/pin`, { message: pinned })
  await shoot('reader-pin', { still: 'reader.html?state=pin', ...calm })
  await lead.put(`/codelabs/${lab.id}/pin`, { message: null })
  await me.post(`/codelabs/${lab.id}/help`, { step_number: 6 }).catch(() => {})
  await shoot('reader-queue', { still: 'reader.html?state=queue', ...calm })
  const mine = (await lead.get(`/codelabs/${lab.id}/help`)).find((h) => h.attendee_name === 'Maya Cohen')
  await helper.post(`/codelabs/${lab.id}/help/${mine.id}/claim`)
  await shoot('reader-coming', { still: 'reader.html?state=coming', ...calm })
  await helper.post(`/codelabs/${lab.id}/help/${mine.id}/resolve`)
  await shoot('reader-calm', { still: 'reader.html?state=calm', ...calm })
  const { round } = await lead.post(`/codelabs/${lab.id}/polls/${polls[0].id}/open`, {})
  await shoot('reader-poll', { still: 'reader.html?state=poll', ...calm })
  await me.put(`/codelabs/${lab.id}/polls/${polls[0].id}/vote`, { round, choice: [1] })
  let votes = 0
  for (const one of people.values())
    if (votes++ < 30 && one !== me) await one.put(`/codelabs/${lab.id}/polls/${polls[0].id}/vote`, { round, choice: [[0, 1, 2, 1][votes % 4]] })
  await shoot('reader-answered', { still: 'reader.html?state=answered', ...calm })
  await lead.post(`/codelabs/${lab.id}/polls/${polls[0].id}/show`, { shown: true })
  await lead.post(`/codelabs/${lab.id}/polls/${polls[0].id}/close`)
  const results = async (page) => {
    // Only people who are connected at this moment receive the results.
    for (const shown of [false, true]) await lead.post(`/codelabs/${lab.id}/polls/${polls[0].id}/show`, { shown })
    await page.locator('.notices.results').waitFor()
  }
  await shoot('reader-results', { still: 'reader.html?state=results', ...calm, after: results })
  await lead.put(`/codelabs/${lab.id}/timer`, { seconds: 216, label: 'Exercise: make it survive kill -9', kind: 'exercise' })
  await shoot('reader-timer', { still: 'reader.html?state=timer', ...calm })
  await lead.say(lab, { type: 'dm', target_id: me.id, message: 'Which line does the error name?' })
  await shoot('reader-dm', { still: 'reader.html?state=dm', ...calm })
  const broadcast = async (page) => {
    for (const said of await lead.get(`/codelabs/${lab.id}/chat`)) if (said.msg_type === 'broadcast') await lead.delete(`/codelabs/${lab.id}/chat/${said.id}`)
    await lead.say(lab, { type: 'broadcast', message: 'Break until 11:15. Leave your program running; we look at its log together afterwards.' })
    await page.locator('.notices.broadcast').waitFor()
  }
  await shoot('reader-broadcast', { still: 'reader.html?state=broadcast', ...calm, after: broadcast })
  await lead.post(`/codelabs/${lab.id}/help/${help.id}/claim`)
  await shoot('person-with', { still: 'person.html?state=with', as: lead, path: live, after: person, notOn: ['375'] })

  await lead.put(`/codelabs/${lab.id}/pin`, { message: pinned })
  const wall = { as: lead, path: `${live}/projector`, more: ['1920'], notOn: ['375'] }
  await show(null)
  await shoot('projector-join', { still: 'projector.html?state=join', ...wall })
  await show('poll', polls[0].id)
  await shoot('projector-poll', { still: 'projector.html?state=poll', ...wall })
  await show('question', questions[0].id)
  await shoot('projector-question', { still: 'projector.html?state=question', ...wall })
  await show('timer')
  await shoot('projector-timer', { still: 'projector.html?state=timer', ...wall })

  const done = people.get('Oluwaseun Adeyemi-Bankole')
  await lead.put(`/codelabs/${lab.id}`, {
    organiser: 'Nordlicht School of Software',
    logo_url: await logo(lead),
    certificate_text:
      'Channels and workers, waiting times under load, retries with jitter, a queue that survives a crash, its HTTP interface, and a shutdown that loses nothing.',
    seal: true,
  })
  await me.post(`/codelabs/${lab.id}/complete`)
  await done.post(`/codelabs/${lab.id}/complete`)
  await shoot('certificate', { still: 'certificate.html', as: me, path: `/certificate/${me.id}`, whole: true })
  await shoot('certificate-long', { still: 'certificate.html?state=long', as: done, path: `/certificate/${done.id}`, whole: true })
  await shoot('verify', { path: `/verify/${me.id}` })

  const settings = { as: lead, path: `${live}/settings/certificate` }
  await shoot('settings-lab', {
    still: 'settings.html?state=lab',
    ...settings,
    after: async (page) => {
      const organiser = page.locator('#certificate input').first()
      await organiser.fill('Nordlicht School')
    },
  })
  for (const section of ['about', 'joining', 'completion', 'questions', 'code', 'ai', 'quiz', 'files', 'versions', 'end', 'privacy'])
    await shoot(`settings-${section}`, { as: lead, path: `${live}/settings/${section}` })
  if (wanted('server-webhooks')) {
    for (const [address, events, names] of [
      ['hooks.nordlicht.example/atelier', ['attendee_completed', 'workshop_ended'], true],
      ['chat.example/services/T04/B77', ['help_requested'], false],
      ['old-crm.example/in', ['attendee_registered'], false],
    ])
      await lead.post('/admin/webhooks', { url: `https://${address}`, events, names })
  }
  await shoot('server-webhooks', { still: 'settings.html?state=server', as: lead, path: '/admin/settings/webhooks', before: delivered })
  await shoot('server-webhooks-add', {
    before: delivered,
    still: 'settings.html?state=add',
    as: lead,
    path: '/admin/settings/webhooks',
    after: (page) => page.getByRole('button', { name: 'Add a webhook' }).click(),
  })
  for (const section of ['health', 'backup', 'tokens', 'ai', 'sso', 'device'])
    await shoot(`server-${section}`, { as: lead, path: `/admin/settings/${section}` })
  await more(lead, lab, people, polls, questions)
  await shoot('account', { as: lead, path: '/account' })
  await shoot('audit', { as: lead, path: '/admin/audit-logs' })
  for (const [title, author, count, minutes] of [
    ['A first service with gRPC', 'Inês Carvalho', 11, 11],
    ['Trees that balance themselves', 'Thabo Mokoena', 6, 8],
  ])
    await lead.codelab({
      title,
      author,
      is_public: true,
      steps: Array.from({ length: count }, (_, i) => ({ title: `Step ${i + 1}`, content_markdown: '', duration_minutes: minutes })),
    })
  await shoot('codelabs', { as: lead, path: '/admin' })
  await shoot('home-public', { still: 'home.html?state=public', path: '/' })
  await page()
  console.log(`pictures are on ${new URL('index.html', out).pathname}`)
} finally {
  gone.abort()
  await browser.close()
  await server.remove()
}

function wanted(name) {
  return only.length === 0 || only.some((o) => name.startsWith(o))
}

/**
 * Captures a screen, and its still.
 *
 * @param {string} name
 * @param {{still?: string, as?: Person, path: string, before?: (context: import('playwright-core').BrowserContext) => Promise<unknown>,
 *   after?: (page: import('playwright-core').Page) => Promise<unknown>, more?: string[], notOn?: string[], whole?: boolean}} screen
 *   more: sizes in addition to the common ones; whole: the whole page, rather than its visible part
 */
async function shoot(name, { still, as, path, before, after, more = [], notOn = [], whole = false }) {
  if (!wanted(name)) return
  const all = { ...sizes, ...Object.fromEntries(more.map((m) => [m, further[m]])) }
  for (const [size, viewport] of Object.entries(all)) {
    for (const colorScheme of ['light', 'dark']) {
      const as_ = `${name}.${size}.${colorScheme}`
      if (!notOn.includes(size)) {
        const { context, page, problems } = await Visitor.open(browser, server, {
          ...(as ? { as } : {}),
          viewport,
          colorScheme,
          locale: language,
          reducedMotion: 'reduce',
          hasTouch: size === '375',
        })
        try {
          await age(context, guests)
          await before?.(context)
          await page.goto(path)
          await settled(page)
          page.setDefaultTimeout(8_000)
          await after?.(page)
          await settled(page)
        } catch (e) {
          problems.push(String(e).split('\n')[0])
        }
        await page.screenshot({ path: new URL(`${as_}.app.png`, out).pathname, fullPage: whole })
        for (const text of problems) console.log(`${as_}: ${text}`)
        await context.close()
      }
      if (!still || !stills || notOn.includes(size)) continue
      const page = await browser.newPage({ viewport, colorScheme })
      await page.goto(new URL(`${still}${colorScheme === 'dark' ? (still.includes('?') ? '&dark' : '?dark') : ''}`, stills).href)
      await page.waitForLoadState('networkidle')
      await page.screenshot({ path: new URL(`${as_}.still.png`, out).pathname, fullPage: whole })
      await page.close()
    }
  }
  console.log(name)
}

/** Writes the page with all existing pictures, including those of earlier runs. */
async function page() {
  const files = (await readdir(out)).filter((f) => f.endsWith('.app.png'))
  const there = new Set(await readdir(out))
  const rows = files.map((app) => {
    const [name, size, theme] = app.split('.')
    const still = app.replace('.app.', '.still.')
    const picture = (file, words) => `<figure><figcaption>${words}</figcaption><a href="${file}"><img loading="lazy" src="${file}" alt="${words}"></a></figure>`
    return { name, size, theme, html: `<div>${there.has(still) ? picture(still, 'still') : ''}${picture(app, 'app')}</div>` }
  })
  const names = [...new Set(rows.map((r) => r.name))]
  const of = (name) =>
    rows
      .filter((r) => r.name === name)
      .map((r) => `<h3>${r.size}, ${r.theme}</h3>${r.html}`)
      .join('')
  const body = names.map((n) => `<section id="${n}"><h2>${n}</h2>${of(n)}</section>`).join('')
  const index = names.map((n) => `<a href="#${n}">${n}</a>`).join(' ')
  const style =
    'body{font:15px/22px system-ui;margin:20px}section div{display:flex;gap:12px}figure{margin:0;flex:1 1 0;min-width:0}img{max-width:100%;border:1px solid #999}'
  await writeFile(
    new URL('index.html', out),
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Stills and app</title><style>${style}</style><nav>${index}</nav>${body}</html>\n`,
  )
}

/**
 * Changes the server's responses as if webhooks had been delivered to addresses on the internet.
 * One webhook has failed.
 */
async function delivered(context) {
  const at = (minutes, seconds = 0) => new Date(Date.now() - minutes * 60_000 - seconds * 1000).toISOString()
  const result = (minutes, status, took_ms, n = 1, error = null) => ({ at: at(minutes), status, took_ms, try: n, error })
  const last = { 'hooks.nordlicht': result(4, 204, 38), 'chat.example': result(2, 200, 61), 'old-crm': result(1100, 502, 412, 8) }
  await context.route(
    (url) => url.pathname === '/api/admin/webhooks',
    async (route) => {
      if (route.request().method() !== 'GET') return route.continue()
      const response = await route.fetch()
      const all = await response.json()
      const changed = (list) =>
        list.map((h) => {
          const known = Object.keys(last).find((k) => h.url.includes(k))
          return { ...h, last: last[known] ?? null, ...(known === 'old-crm' ? { state: 'stopped', failures: 20 } : {}) }
        })
      await route.fulfill({ response, json: Array.isArray(all) ? changed(all) : { ...all, webhooks: changed(all.webhooks) } })
    },
  )
  const id = '01a21f3b-5dcd-7000-8f53-d542bf62a845'
  const tries = [
    { id, type: 'attendee_completed', ...result(4, 204, 38) },
    { id, type: 'attendee_completed', ...result(7, 204, 41, 2) },
    { id, type: 'attendee_completed', ...result(8, null, 10_000, 1, 'timeout') },
    { id, type: 'test', ...result(11, 204, 52) },
  ]
  await context.route(
    (url) => /^\/api\/admin\/webhooks\/[^/]+\/deliveries$/.test(url.pathname),
    (route) => route.fulfill({ json: tries }),
  )
}

/** Draws and uploads the organiser's logo. Returns its address. */
async function logo(lead) {
  const page = await browser.newPage({ viewport: { width: 96, height: 96 } })
  await page.setContent(
    '<style>body{margin:0}</style><svg width="96" height="96" viewBox="0 0 32 32" style="display:block"><rect width="32" height="32" rx="7" fill="#1f5fbf"/><path d="M9 24V8l14 16V8" fill="none" stroke="#fff" stroke-width="3"/></svg>',
  )
  const body = new FormData()
  body.append('file', new Blob([await page.screenshot({ omitBackground: true })], { type: 'image/png' }), 'logo.png')
  await page.close()
  return (await lead.post('/upload/image', body)).url
}

/** Screens that have no still. */
async function more(lead, lab, people, polls, questions) {
  const live = `/admin/${lab.id}`
  const me = people.get('Rosa Jiménez')
  const reader = { as: me, path: `/codelabs/${lab.id}?step=3` }
  const narrow = (page) => page.viewportSize().width < 1100
  const tab = (name) => async (page) => {
    if (narrow(page)) await page.getByRole('button', { name: /^Help( \d+)?$/ }).click()
    await page.getByRole('tab', { name }).click()
  }
  const panel = (name) => async (page) => {
    if (narrow(page)) await page.getByRole('navigation', { name: 'Steps, chat and help' }).getByRole('button', { name: 'Chat' }).click()
    await page.getByRole('tab', { name }).click()
  }
  const part = (name) => (page) => page.getByRole('tab', { name }).click()
  await shoot('login', { path: '/login' })
  await shoot('join', { path: `/j/${lab.join_code}` })
  await shoot('missing', { path: '/nothing' })
  await shoot('edit', { as: lead, path: `${live}/edit` })
  await shoot('results', { as: lead, path: `${live}/results` })
  await shoot('results-polls', { as: lead, path: `${live}/results`, after: part('Polls') })
  await shoot('results-summary', { as: lead, path: `${live}/results`, after: part('Summary') })
  await shoot('participants', { as: lead, path: '/admin/participants' })
  await shoot('people', { as: lead, path: '/admin/people' })
  await shoot('tab-questions', { ...reader, after: panel('Q&A') })
  await shoot('tab-polls', { as: lead, path: live, after: tab('Polls') })
  await shoot('tab-asked', { as: lead, path: live, after: tab(/^Questions/) })
  await shoot('tab-timer', { as: lead, path: live, after: tab('Timer') })
  await lead.put(`/codelabs/${lab.id}/questions/${questions[0].id}`, { state: 'answered', answer: 'Only done twice.' })
  for (const [kind, poll] of [
    ['words', { question: 'What comes to mind when you hear Go?', options: [] }],
    ['scale', { question: 'How sure do you feel about channels?', options: ['not at all', 'completely'], anonymous: true }],
    ['text', { question: 'Minute card', options: ['One thing I learned', 'One thing still unclear'], anonymous: true }],
  ]) {
    if (!wanted(`poll-${kind}`)) continue
    const { id } = await lead.post(`/codelabs/${lab.id}/polls`, { kind, ...poll })
    polls.push(await lead.post(`/codelabs/${lab.id}/polls/${id}/open`, {}))
    await shoot(`poll-${kind}`, { ...reader })
    await lead.post(`/codelabs/${lab.id}/polls/${id}/close`)
  }
}

/**
 * Creates the workshop for a state of the live view. Its people are on their steps, and some wait.
 */
async function workshop(state) {
  const rows = state === 'c' ? crowd(3000) : state === 'd' ? [] : guestsOf[state]
  const lead = await new Person(server).login('Lea Brandt')
  const steps = course.map(([title, minutes]) => ({
    title,
    content_markdown: `Three workers read from one channel. Nobody tells them who takes what.

\`\`\`go
func worker(id int, jobs <-chan int) {
	for job := range jobs {
		fmt.Println("worker", id, "took job", job)
	}
}
\`\`\`

\`\`\`console
$ go run .
worker 2 took job 0
worker 0 took job 1
\`\`\`

- [ ] It prints fifteen lines
- [ ] You changed 3 to 100, and it still does
- [ ] \`go vet\` is silent

| Workers | Time | p99 |
|:--|--:|--:|
| 1 | 15.0 s | 1.02 s |
| 3 | 5.1 s | 1.04 s |

<details><summary>A hint</summary>Close the channel once, by the one who writes to it.</details>

\`\`\`notes
Let them run it with one worker first, then with 100. Ask what is printed last, and why.
\`\`\`
`,
    duration_minutes: minutes,
  }))
  const lab = await lead.codelab({ title: 'Build a job queue in Go', author: 'Lea Brandt', is_public: true, steps })
  await lead.put(`/codelabs/${lab.id}`, {
    questions: 'open',
    quiz_enabled: true,
    guide_markdown: `\`\`\`notes
Ask who has Go already. Hand out the three USB sticks with the module cache: row 1, row 4, row 6. Do not start before two thirds are past step 1.
\`\`\`
`,
  })
  await lead.put(`/codelabs/${lab.id}/quizzes`, [
    { question: 'Who closes a channel?', quiz_type: 'multiple_choice', options: ['Who writes', 'Who reads'], correct_answer: 0 },
    { question: 'What does a worker do without a job?', quiz_type: 'multiple_choice', options: ['It waits', 'It ends'], correct_answer: 0 },
  ])
  const people = new Map()
  await each(rows.length, async (i) => {
    const g = rows[i]
    const one = await new Person(server).register(lab, g.name)
    people.set(g.name, one)
    guests.set(one.id, g)
    // A person who listens counts as present.
    if (g.mood !== 'silent') void listen(server, lab, one, gone.signal)
    for (let s = state === 'c' ? g.step : 2; s >= 2 && s <= Math.min(g.step, course.length); s++) await one.say(lab, { type: 'step_progress', step_number: s })
    if (g.step > course.length) await one.post(`/codelabs/${lab.id}/complete`)
    if (g.mood && g.mood !== 'silent') await one.say(lab, { type: 'pulse', state: g.mood })
    if (g.place) await one.put(`/codelabs/${lab.id}/attendees/${one.id}`, { place: g.place })
    if (g.wait) await one.post(`/codelabs/${lab.id}/help`, { step_number: Math.min(g.step, course.length), message: g.text })
  })
  for (const request of await lead.get(`/codelabs/${lab.id}/help`))
    if (guests.get(request.attendee_id)?.helped) await lead.post(`/codelabs/${lab.id}/help/${request.id}/claim`)
  const somebody = [...people.values()]
  for (const [i, message] of [
    [0, 'Is the jitter needed with one worker?'],
    [1, 'You forgot close(jobs), same as me.'],
  ])
    await somebody[i]?.say(lab, { type: 'chat', message })
  if (state !== 'c') await people.get('Jakub Nowak')?.say(lab, { type: 'dm', target_id: 'facilitator', message: 'It names line 14, the close.' })
  const yusuf = state === 'b' ? people.get('Yusuf Demir') : null
  if (yusuf) {
    await lead.say(lab, { type: 'dm', target_id: yusuf.id, message: 'Does ls show the segment file?' })
    await yusuf.say(lab, { type: 'dm', target_id: 'facilitator', message: 'Yes, with 0 bytes.' })
  }
  const submissions = (await lead.get(`/codelabs/${lab.id}/quizzes`)).map((q, i) => ({ quiz_id: q.id, answer: String(i) }))
  for (const one of somebody.slice(0, 100)) await one.post(`/codelabs/${lab.id}/quizzes/submit`, { submissions })
  const polls = [
    await lead.post(`/codelabs/${lab.id}/polls`, {
      kind: 'choice',
      question: 'Have you used channels before?',
      options: ['Never', 'A few times', 'Every day'],
    }),
  ]
  const questions = []
  if (somebody[3]) questions.push(await somebody[3].post(`/codelabs/${lab.id}/questions`, { text: question, anonymous: true }))
  for (const one of somebody.slice(4, 17)) if (questions[0]) await one.put(`/codelabs/${lab.id}/questions/${questions[0].id}/vote`)
  if (state !== 'b') await lead.put(`/codelabs/${lab.id}`, { is_public: false })
  return { lab, people, polls, questions }
}
