// Tests of the harness itself, since a test that cannot fail proves nothing.
import assert from 'node:assert/strict'
import { barriers, offline, Refused, stage, until } from './harness/stage.mjs'

const { test, long } = stage()

test(
  'errors in a page are recorded',
  async ({ visitor }) => {
    const guest = await visitor()
    await guest.page.goto('/login')
    guest.check()
    await guest.page.evaluate(() => {
      const script = document.createElement('script')
      script.textContent = 'window.reached = true'
      document.head.append(script)
      console.error('told to the console')
      setTimeout(() => {
        throw new Error('thrown by nobody')
      })
    })
    await until('all three problems to be recorded', () =>
      ['violates script-src', 'told to the console', 'thrown by nobody'].every((part) => guest.problems.some((text) => text.includes(part))),
    )
    assert.equal(await guest.page.evaluate(() => window.reached), undefined)
    assert.throws(() => guest.check(), /told to the console/)
    guest.expect(/told to the console/, /thrown by nobody/)
    assert.throws(() => guest.check(), /violates script-src/)
    guest.expect(/violates script-src/, /content security policy/i)
    guest.check()
  },
  { chromium: "the expected errors are in Chromium's wording" },
)

test(
  'unreadable text is found, even in only one theme',
  async ({ visitor }) => {
    const { page } = await visitor()
    await page.goto('/login')
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual(await barriers(page), [])
    for (const theme of ['light', 'dark']) {
      await page.evaluate((theme) => {
        const sheet = new CSSStyleSheet()
        sheet.replaceSync(`[data-theme='${theme}'] .quiet { color: ${theme === 'light' ? '#eee' : '#222'} !important }`)
        document.adoptedStyleSheets = [sheet]
      }, theme)
      const found = await barriers(page)
      assert.equal(found.length, 1, `${found}`)
      assert.match(found[0], new RegExp(`^${theme}: color-contrast`))
    }
  },
  { chromium: 'axe does not run in Firefox' },
)

long('a killed server restarts with its data at the same address', async ({ server, visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Kept' })
  const ann = await person(lab, 'Attendee 1')
  await ann.say(lab, { type: 'chat', message: 'before' })
  const guest = await visitor({ as: ann })
  const own = () => guest.page.evaluate(async () => (await fetch('/api/session')).json())
  await guest.page.goto('/login')
  assert.equal((await own()).sub, ann.id, 'the browser has the session of another person')
  const { url } = server
  await server.kill()
  await assert.rejects(fetch(url))
  await server.start()
  assert.equal(server.url, url)
  assert.equal((await own()).sub, ann.id)
  const kept = await lead.get(`/codelabs/${lab.id}`)
  assert.equal(kept[0].title, 'Kept')
  guest.expect(offline)
})

long('a refusal contains the error', async ({ facilitator }) => {
  const lead = await facilitator()
  await assert.rejects(lead.get('/codelabs/nothing'), (error) => error instanceof Refused && error.status === 404 && Boolean(error.body.error))
})
