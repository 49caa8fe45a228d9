// Tests of the harness itself, since a test that cannot fail proves nothing.
import assert from 'node:assert/strict'
import { barriers, offline, Refused, stage, until } from './harness/stage.mjs'

const { test, long } = stage()

test(
  'what goes wrong in a page is noticed',
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
    await until('all three problems', () =>
      ['violates script-src', 'told to the console', 'thrown by nobody'].every((part) => guest.problems.some((text) => text.includes(part))),
    )
    assert.equal(await guest.page.evaluate(() => window.reached), undefined)
    assert.throws(() => guest.check(), /told to the console/)
    guest.expect(/told to the console/, /thrown by nobody/)
    assert.throws(() => guest.check(), /violates script-src/)
    guest.expect(/violates script-src/, /content security policy/i)
    guest.check()
  },
  { chromium: 'it makes errors in the words of Chromium' },
)

test(
  'what nobody can read is found, also when only one theme has it',
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

long('a killed server comes back with its data on its address', async ({ server, visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Kept' })
  const ann = await person(lab, 'Attendee 1')
  await ann.say(lab, { type: 'chat', message: 'before' })
  const guest = await visitor({ as: ann })
  const own = () => guest.page.evaluate(async () => (await fetch('/api/session')).json())
  await guest.page.goto('/login')
  assert.equal((await own()).sub, ann.id, 'the browser is not who it should be')
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

long('a refusal says why', async ({ facilitator }) => {
  const lead = await facilitator()
  await assert.rejects(lead.get('/codelabs/nothing'), (error) => error instanceof Refused && error.status === 404 && Boolean(error.body.error))
})
