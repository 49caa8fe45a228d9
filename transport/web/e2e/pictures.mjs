// Captures the pictures of the README. They show the live view of a room in which people need help,
// the text for attendees on a laptop and a phone, and a poll's result on the projector. First, the
// people wait for some minutes, so that the pictures show waiting times.
//
//   make pictures
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openBrowser, still, Visitor } from './harness/browser.mjs'
import { each, listen, unlimited } from './harness/crowd.mjs'
import { Person } from './harness/people.mjs'
import { Server } from './harness/server.mjs'

const out = new URL('../pictures/', import.meta.url)
const laptop = { width: 1366, height: 820 }
const phone = { width: 390, height: 760 }

const text = `Three workers read from one channel. Nobody tells them who takes which job: whoever is free
takes the next.

![Jobs go through a channel to three workers](PICTURE)

<aside class="positive">

Close the channel once, in the function that writes to it.

</aside>

| Workers | Time | p99 |
|:--|--:|--:|
| 1 | 15.0 s | 1.02 s |
| 3 | 5.1 s | 1.04 s |
| 100 | 1.0 s | 1.31 s |

\`\`\`go
func worker(id int, jobs <-chan int) {
	for job := range jobs {
		fmt.Println("worker", id, "took job", job)
	}
}
\`\`\`

- [ ] It prints fifteen lines
- [ ] \`go vet\` is silent

\`\`\`notes
Let them run it with one worker first, then with 100.
\`\`\`
`

const titles = ['Set up', 'Channels', 'A queue in memory', 'Three workers', 'A file that survives', 'Retry with jitter']

/** The people: name, step, mood or "help", place, and the message of the request for help. */
const room = [
  ...[...'Amina Berk Chloé Daniel Elif Farah Goran Hana Ivo Jana Kofi Lucía'.split(' ')].map((name) => [name, 4]),
  ...[...'Mateo Nadia Olek Priya'.split(' ')].map((name) => [name, 5]),
  ...[...'Quinn Rosa'.split(' ')].map((name) => [name, 6]),
  ['Samir', 3, 'slow'],
  ['Tuulia', 3],
  ['Uma', 3, 'help', 'row 2, window', 'all goroutines are asleep – deadlock!'],
  ['Viktor', 4, 'help', 'row 5', 'Worker 2 never gets a job'],
  ['Wanjiru', 4, 'stuck'],
  ['Xavier', 2, 'help', '', 'go: cannot find main module'],
  ['Yuki', 4, 'fine'],
  ['Zoë', 4, 'fine'],
]

const waits = (mood) => mood === 'help' || mood === 'stuck'

const server = await new Server({ ...unlimited, ATELIER_LIMITS_MESSAGES_PER_SECOND: '0' }).start()
const browser = await openBrowser()
const over = new AbortController()
try {
  const lead = await new Person(server).login('Grace')
  const { lab, people } = await workshop(lead)
  const [me] = people
  const { id, round } = await lead.post(`/codelabs/${lab.id}/polls/${lab.poll.id}/open`, {})
  const poll = `/codelabs/${lab.id}/polls/${id}`
  await each(people.length, (i) => people[i].put(`${poll}/vote`, { round, choice: [[1, 0, 1, 2, 1][i % 5]] }))

  await shoot('reader', { as: me, path: `/codelabs/${lab.id}?step=4`, viewport: laptop })
  await shoot('phone', { as: me, path: `/codelabs/${lab.id}?step=4`, viewport: phone })
  await lead.post(`${poll}/show`, { shown: true })
  await shoot('live', { as: lead, path: `/admin/${lab.id}`, viewport: laptop })
  await lead.put(`/codelabs/${lab.id}/spotlight`, { kind: 'poll', id })
  await shoot('projector', { as: lead, path: `/admin/${lab.id}/projector`, viewport: laptop })
} finally {
  over.abort()
  await browser.close()
  await server.remove()
}

async function shoot(name, { as, path, viewport }) {
  const { context, page } = await Visitor.open(browser, server, { as, viewport, reducedMotion: 'reduce' })
  await page.goto(path)
  await still(page)
  await page.screenshot({ path: fileURLToPath(new URL(`${name}.png`, out)) })
  await context.close()
}

/** Draws a picture for the text and uploads it. Returns its address. */
async function drawn(lead) {
  const page = await browser.newPage({ viewport: { width: 640, height: 150 }, deviceScaleFactor: 2 })
  const box = (x, y, w, words, fill) =>
    `<rect x="${x}" y="${y}" width="${w}" height="34" rx="6" fill="${fill}"/><text x="${x + w / 2}" y="${y + 22}" text-anchor="middle">${words}</text>`
  const arrow = (x, y, to, at) => `<path d="M${x} ${y}L${to} ${at}" stroke="#5b6470" stroke-width="2" marker-end="url(#tip)"/>`
  await page.setContent(`<style>body{margin:0}text{font:15px system-ui;fill:#16202b}</style>
<svg width="640" height="150"><defs><marker id="tip" orient="auto" markerWidth="8" markerHeight="8" refX="6" refY="3"><path d="M0 0L6 3L0 6z" fill="#5b6470"/></marker></defs>
<rect width="640" height="150" fill="#f4f1ea"/>
${box(30, 58, 110, 'main', '#d9e6ee')}${box(220, 58, 170, 'jobs chan int', '#f2dfb8')}
${[0, 1, 2].map((i) => box(490, 14 + i * 44, 120, `worker ${i}`, '#d6e8d3') + arrow(390, 75, 486, 31 + i * 44)).join('')}${arrow(140, 75, 216, 75)}</svg>`)
  const body = new FormData()
  body.append('file', new Blob([await page.screenshot()], { type: 'image/png' }), 'channel.png')
  await page.close()
  const { url } = await lead.post('/upload/image', body)
  return url
}

/** Creates the workshop, with its people on their steps. */
async function workshop(lead) {
  const picture = await drawn(lead)
  const steps = titles.map((title) => ({ title, content_markdown: text.replace('PICTURE', picture), duration_minutes: 15 }))
  const lab = await lead.codelab({ title: 'Build a job queue in Go', author: 'Grace', steps })
  await lead.put(`/codelabs/${lab.id}`, { questions: 'open' })
  const people = []
  await each(room.length, async (i) => {
    const [name, step, mood, place] = room[i]
    const one = (people[i] = await new Person(server).register(lab, name))
    void listen(server, lab, one, over.signal) // a person who listens counts as present
    for (let s = 2; s <= step; s++) await one.say(lab, { type: 'step_progress', step_number: s })
    if (place) await one.put(`/codelabs/${lab.id}/attendees/${one.id}`, { place })
    if (mood && !waits(mood)) await one.say(lab, { type: 'pulse', state: mood })
  })
  // The people ask one after the other, so that they have waited for different times.
  for (const [i, [, step, mood, , words]] of room.entries()) {
    if (!waits(mood)) continue
    if (mood === 'help') await people[i].post(`/codelabs/${lab.id}/help`, { step_number: step, message: words })
    else await people[i].say(lab, { type: 'pulse', state: mood })
    await pause(70_000)
  }
  await people[5].say(lab, { type: 'chat', message: 'Is the jitter needed with one worker?' })
  await lead.say(lab, { type: 'chat', message: 'With one it changes nothing. From two on it does.' })
  await people[1].say(lab, { type: 'chat', message: 'I forgot close(jobs), too.' })
  const poll = await lead.post(`/codelabs/${lab.id}/polls`, {
    kind: 'choice',
    question: 'Have you used channels before?',
    options: ['Never', 'A few times', 'Every day'],
  })
  return { lab: { ...lab, poll }, people }
}
