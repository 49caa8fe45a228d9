// The pictures of the README, of the demo's workshop in the middle of its time.
//
//   make pictures
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openBrowser } from './harness/browser.mjs'

const bench = fileURLToPath(new URL('../../../bin/atelier-bench', import.meta.url))
const out = new URL('../pictures/', import.meta.url)
// Until people are spread over the steps and some of them wait for help.
const warmUp = 40_000

const demo = spawn(bench, ['demo', '--speed', '12', '--seed', '7', '--for', '5m'], { stdio: ['ignore', 'pipe', 'inherit'] })
const browser = await openBrowser()
try {
  const { Open: live, 'Admin id': id, Password: password, Attendees: reader } = await announced(demo)
  const context = () =>
    browser.newContext({
      viewport: { width: 1280, height: 800 },
      locale: 'en-GB',
      reducedMotion: 'reduce',
      serviceWorkers: 'block',
    })

  const lead = await (await context()).newPage()
  await lead.goto(live)
  await lead.getByLabel('Admin id').fill(id)
  await lead.getByLabel('Password').fill(password)
  await lead.getByLabel('Your name').fill('Grace')
  await lead.getByRole('button', { name: 'Sign in', exact: true }).click()
  await lead.getByText(/of \d+ here/).waitFor()

  const seat = await (await context()).newPage()
  await seat.goto(reader)
  await seat.getByLabel('Your name').fill('Lin')
  await seat.getByRole('button', { name: 'Join', exact: true }).click()
  await seat.getByText('● connected').waitFor()
  await new Promise((done) => setTimeout(done, warmUp))

  await lead.screenshot({ path: fileURLToPath(new URL('live.png', out)) })
  await seat.keyboard.press('ArrowRight')
  await seat.waitForLoadState('networkidle')
  await seat.screenshot({ path: fileURLToPath(new URL('reader.png', out)) })
  await lead.goto(`${live}/projector`)
  await lead.waitForLoadState('networkidle')
  await lead.screenshot({ path: fileURLToPath(new URL('projector.png', out)) })
} finally {
  await browser.close()
  demo.kill('SIGINT')
}

/** The values that the demo prints when it is ready, by their labels. */
async function announced(child) {
  const said = {}
  for await (const line of createInterface(child.stdout)) {
    const at = /^ {2}(Open|Admin id|Password|Attendees) +(\S.*)$/.exec(line)
    if (at) said[at[1]] = at[2]
    if (said.Attendees) return said
  }
  throw new Error('the demo did not start')
}
