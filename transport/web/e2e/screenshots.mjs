// Pictures of every screen, wide, half and small, light and dark, of a workshop
// with people in it. They lie in out/screens.
//
//   make screenshots
//   node screenshots.mjs reader live     only these
import { mkdir, readFile } from 'node:fs/promises'
import { openBrowser, Visitor } from './harness/browser.mjs'
import { Person } from './harness/people.mjs'
import { Server } from './harness/server.mjs'

const out = new URL('./out/screens/', import.meta.url)
const sizes = { wide: { width: 1440, height: 900 }, half: { width: 800, height: 900 }, small: { width: 390, height: 844 } }

const server = await new Server().start()
const browser = await openBrowser()
try {
  await mkdir(out, { recursive: true })
  const { lab, lead, people } = await workshop()
  const [ann] = people
  // Who sees it, and where.
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
    edit: [lead, `/admin/${lab.id}/edit`],
    results: [lead, `/admin/${lab.id}/results`],
    settings: [lead, `/admin/${lab.id}/settings`],
    projector: [lead, `/admin/${lab.id}/projector`],
    'audit-logs': [lead, '/admin/audit-logs'],
    participants: [lead, '/admin/participants'],
    'server-settings': [lead, '/admin/settings'],
  }
  const only = process.argv.slice(2)
  for (const [name, [as, path]] of Object.entries(screens)) {
    if (only.length && !only.includes(name)) continue
    for (const [size, viewport] of Object.entries(sizes)) {
      for (const colorScheme of ['light', 'dark']) {
        const { context, page, problems } = await Visitor.open(browser, server, { as, viewport, colorScheme, reducedMotion: 'reduce' })
        await page.goto(path)
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

/** A workshop of twelve, in the middle of the codelab of the demo. */
async function workshop() {
  const lead = await new Person(server).login()
  const form = new FormData()
  form.append('file', new Blob([await readFile(new URL('../../../bench/demo/codelab.md', import.meta.url))]), 'codelab.md')
  const { id } = await lead.post('/codelabs/import', form)
  await lead.put(`/codelabs/${id}`, { is_public: true, quiz_enabled: true })
  await lead.put(`/codelabs/${id}/quizzes`, JSON.parse(await readFile(new URL('../../../bench/demo/quizzes.json', import.meta.url))))
  const people = []
  for (let i = 0; i < 12; i++) {
    const one = await new Person(server).register({ id }, `Attendee ${i + 1}`)
    people.push(one)
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
  const [lab] = await lead.get(`/codelabs/${id}`)
  return { lab, lead, people }
}
