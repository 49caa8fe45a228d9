// Three hundred attendees that the load harness simulates, and a facilitator's page.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { unlimited } from './harness/crowd.mjs'
import { stage, until } from './harness/stage.mjs'

const { long } = stage({ env: unlimited })

const harness = process.env.ATELIER_BENCH_BIN ?? fileURLToPath(new URL('../../../bin/atelier-bench', import.meta.url))

long("the live view shows the server's numbers for three hundred people", async ({ server, facilitator, visitor, note }) => {
  assert.ok(existsSync(harness), `${harness} is missing; run make build first`)
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: ['# One\n\nText.', '# Two\n\nText.', '# Three\n\nText.', '# Four\n\nText.'] })
  const boss = await visitor({ as: lead, viewport: { width: 1440, height: 900 } })
  const { page } = boss
  await page.addInitScript(() => {
    window.tasks = []
    new PerformanceObserver((list) => window.tasks.push(...list.getEntries().map((e) => e.duration))).observe({ type: 'longtask' })
  })
  await page.goto(`/admin/${lab.id}`)
  await page.getByText('Nobody has joined yet').waitFor()
  await page.evaluate(() => (window.tasks.length = 0))

  const args = ['workshop', '--url', server.url, '--admin-id', server.adminId, '--admin-pw', server.adminPw, '--codelab-id', lab.id]
  const load = spawn(
    harness,
    [...args, '--attendees', '300', '--join', '4s', '--duration', '10m', '--step-every', '3s', '--allow-lag', '--threshold', 'refused<1000000'],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const said = []
  for (const out of [load.stdout, load.stderr]) out.on('data', (text) => said.push(text))
  const over = once(load, 'exit')
  try {
    await page.getByText('300 of 300 here').waitFor()
    const third = page.getByRole('region', { name: 'Step 3:' })
    await third
      .getByText(/[1-9]\d* (person|people)/)
      .first()
      .waitFor()
  } finally {
    load.kill('SIGINT') // the load harness still audits the run up to this point
  }
  const [code] = await over
  assert.equal(code, 130, said.join(''))

  // Once nothing changes any more, the screen shows the server's state.
  await until('the screen to match the overview', async () => {
    const overview = await lead.get(`/codelabs/${lab.id}/overview`)
    for (const s of overview.steps) {
      const there = (await lead.get(`/codelabs/${lab.id}/attendees`)).filter((a) => !a.is_completed && a.current_step === s.step_number).length
      const figures = page.getByRole('region', { name: `Step ${s.step_number}:` }).getByText(/\d+ (person|people)/)
      // A step without people has no figure. This test does not wait for a figure, since it can
      // disappear meanwhile.
      const [shown = '0'] = await figures.allTextContents()
      assert.equal(Number.parseInt(shown), there, `wrong number of people at step ${s.step_number}`)
    }
    assert.ok(await page.getByText(`${overview.online} of ${overview.attendees} here`).isVisible(), `${overview.online} of ${overview.attendees} here`)
    return true
  })
  const tasks = await page.evaluate(() => window.tasks)
  // This test does not check times, since the machine can be busy. make budgets does.
  note(`${tasks.length} long tasks, the longest ${Math.max(0, ...tasks).toFixed(0)} ms`)
})
