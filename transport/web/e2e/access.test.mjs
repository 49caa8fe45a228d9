// Accessibility: barriers that axe finds in both themes, use with the keyboard, right-to-left
// layout, and languages. languages.test.mjs covers 400 % zoom.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { busy, pages } from './harness/busy.mjs'
import { barriers, stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()

test('axe finds no serious barrier on any screen, light or dark', async (scene) => {
  const set = await busy(scene)
  const bad = []
  const guest = await scene.visitor()
  const reader = await scene.visitor({ as: set.ann })
  const boss = await scene.visitor({ as: set.lead })
  for (const v of [guest, reader, boss]) v.expect(/404/)
  for (const [path, who, heading] of pages(set)) {
    const { page } = who === null ? guest : who === 'lead' ? boss : reader
    await page.goto(path)
    await page.getByRole('heading', { name: heading }).first().waitFor()
    await still(page)
    assert.equal(await page.locator('h1').count(), 1, `the number of h1 elements on ${path} is wrong`)
    assert.equal(await page.locator('main').count(), 1, `the number of main elements on ${path} is wrong`)
    assert.notEqual(await page.title(), '', path)
    for (const f of await barriers(page)) bad.push(`${path}, ${f}`)
  }
  // The pages of the reader, its panels and dialogs.
  const { page } = reader
  await page.goto(`/codelabs/${set.lab.id}`)
  for (const name of ['Quiz', 'Hand in work', 'Feedback', 'Complete', 'Before you start', 'Set up']) {
    await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 2, name }).waitFor()
    for (const f of await barriers(page)) bad.push(`${name}, ${f}`)
  }
  for (const tab of ['Comments', 'Files', 'Chat']) {
    await page.getByRole('tab', { name: tab }).click()
    await page.getByRole('tab', { name: tab, selected: true }).waitFor()
    await still(page)
    for (const f of await barriers(page)) bad.push(`${tab}, ${f}`)
  }
  for (const key of ['h', '?', '/']) {
    await page.keyboard.press(key)
    await page.getByRole('dialog').waitFor()
    for (const f of await barriers(page)) bad.push(`dialog ${key}, ${f}`)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  await boss.page.goto(`/admin/${set.lab.id}`)
  await boss.page
    .getByRole('button', { name: /^Attendee 2/ })
    .first()
    .click()
  await boss.page.getByRole('dialog').waitFor()
  for (const f of await barriers(boss.page)) bad.push(`person, ${f}`)
  assert.deepEqual(bad, [])
})

/** Waits until an element has the focus. */
const isFocused = (what) => until('the element to have the focus', () => what.evaluate((e) => e === document.activeElement))

test('an attendee can get from joining to the certificate with only the keyboard', async ({ facilitator, visitor }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor()
  const focused = () =>
    page.evaluate(() =>
      document.activeElement?.matches('main, body')
        ? ''
        : document.activeElement?.getAttribute('aria-label') || document.activeElement?.textContent?.trim() || document.activeElement?.tagName,
    )
  /** Presses Tab until an element is reached. */
  const reach = async (what) => {
    for (let i = 0; i < 60; i++) {
      if (what.test(await focused())) return
      await page.keyboard.press('Tab')
      // The focus must be visible.
      const seen = await page.evaluate(() => {
        const e = document.activeElement
        if (!e || e === document.body) return true
        const s = getComputedStyle(e)
        return s.outlineStyle !== 'none' || e.matches('main') || e.type === 'radio'
      })
      assert.ok(seen, `the focus is not visible on ${await focused()}`)
    }
    assert.fail(`Tab does not reach ${what}; the focus is on ${await focused()}`)
  }
  await page.goto('/')
  await page.getByRole('heading', { name: 'Join a workshop' }).waitFor()
  await isFocused(page.getByLabel('Code', { exact: true }))
  await page.getByRole('link', { name: 'Skip to content' }).focus()
  await page.keyboard.press('Enter')
  await until('the content to have the focus', () => page.evaluate(() => document.activeElement?.matches('main')))
  await page.keyboard.press('Tab')
  await isFocused(page.getByLabel('Code', { exact: true }))
  await page.keyboard.type(lab.join_code)
  await page.keyboard.press('Enter')
  await isFocused(page.getByLabel('Your name'))
  await page.keyboard.type('Attendee 1')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'One' }).waitFor()
  await page.getByText('● connected').waitFor()
  await page.keyboard.press('j')
  await page.getByRole('heading', { name: 'Two' }).waitFor()
  await page.keyboard.press('2')
  await until('the server to have the pulse', async () => (await lead.get(`/codelabs/${lab.id}/attendees`))[0].pulse?.state === 'slow')
  await page.keyboard.press('h')
  await isFocused(page.getByRole('dialog').getByLabel(/What is it about/))
  await page.keyboard.type('hjk123?')
  await reach(/^Ask for help$/)
  await page.keyboard.press('Enter')
  await until('the help request to be on the server', async () => (await lead.get(`/codelabs/${lab.id}/help`))[0]?.message === 'hjk123?')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  for (const name of ['Three', 'Hand in work', 'Feedback', 'Complete']) {
    await page.keyboard.press('j')
    await page.getByRole('heading', { level: 2, name }).waitFor()
  }
  await reach(/Complete the codelab/)
  await page.keyboard.press('Enter')
  await page.getByRole('link', { name: 'To your certificate' }).waitFor()
  await reach(/To your certificate/)
  await page.keyboard.press('Enter')
  await page.getByText('has completed').waitFor()
})

long('in a right-to-left test language no text is left in English', async (scene) => {
  const set = await busy(scene)
  const own =
    /A codelab|Attendee|small service|Install it|main\(\)|Good to know|Write it|Run it|Set up|Look|A hint|done|Hello all|It says|break at ten|laptop|slides|listens|A client|A server|Why|More|Text|Atelier|English|Deutsch|admin|gemini|Gemini|OpenAI|Facilitator|Administrator|Exercise|How sure|Ready\?|not at all|completely|What does it cost/
  for (const as of [null, set.ann, set.lead]) {
    const guest = await scene.visitor({ ...(as ? { as } : {}) })
    guest.expect(/404/)
    const { page } = guest
    // A frame without an origin has no storage.
    await page.addInitScript(() => origin !== 'null' && localStorage.setItem('atelier:language', 'he-XB'))
    for (const [path, who] of pages(set)) {
      if ((who === null) !== (as === null) || (who === 'lead') !== (as === set.lead)) continue
      await page.goto(path)
      await page.locator('h1').waitFor()
      await still(page)
      assert.equal(await page.evaluate(() => document.dir), 'rtl')
      const left = await page.evaluate(() => {
        const out = []
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
        for (let n = walker.nextNode(); n; n = walker.nextNode()) {
          const p = n.parentElement
          // The handbook is always in English. It is the only text that is marked as English.
          if (!p || p.closest('script, style, code, pre, kbd, [dir=auto], .markdown, .cm-editor, noscript, svg, time, body [lang=en]') || !p.checkVisibility())
            continue
          // Each translated text is surrounded by these marks, even if it has several nodes.
          if (/[A-Za-z]{3}/.test(n.data) && !/[⟦⟧]/.test(p.textContent)) out.push(n.data.trim())
        }
        for (const e of document.querySelectorAll('[aria-label], [title], [placeholder]')) {
          for (const a of ['aria-label', 'title', 'placeholder']) {
            const v = e.getAttribute(a)
            if (v && /[A-Za-z]{3}/.test(v) && !/[⟦⟧]/.test(v) && !e.closest('.cm-editor')) out.push(`${a}: ${v}`)
          }
        }
        return out
      })
      assert.deepEqual(
        left.filter(
          (t) =>
            !own.test(t) &&
            !/^[\w.-]+@|^[A-Z0-9]{3}( ?[A-Z0-9]{3})?$|https?:|^[a-z]+_[a-z_]+$|^\d|^[0-9a-f-]{36}$|AM|PM|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)/.test(
              t,
            ),
        ),
        [],
        `texts in English on ${path}`,
      )
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)) <= 0, `${path} is wider than the window`)
    }
  }
})

long('the language can be switched, and the catalogues have the same keys and parameters', async ({ facilitator, visitor }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const { page } = await visitor()
  await page.goto('/')
  await page.getByRole('button', { name: 'Appearance and language' }).click()
  await page.getByRole('menuitemradio', { name: 'Deutsch' }).click()
  await page.getByRole('heading', { name: 'An einem Workshop teilnehmen' }).waitFor()
  await page.goto(`/j/${lab.join_code}`)
  await page.getByRole('button', { name: 'Beitreten' }).waitFor()
  assert.equal(await page.evaluate(() => document.documentElement.lang), 'de')

  // The English and German catalogues have the same keys and parameters, and no key is in two
  // areas.
  const root = new URL('../app/src/messages/', import.meta.url)
  const seen = new Map()
  for (const area of await readdir(root, { withFileTypes: true })) {
    if (!area.isDirectory() || area.name === 'compiled') continue
    const [en, de] = await Promise.all(['en', 'de'].map(async (l) => JSON.parse(await readFile(new URL(`${area.name}/${l}.json`, root), 'utf8'))))
    assert.deepEqual(Object.keys(de).toSorted(), Object.keys(en).toSorted(), area.name)
    for (const key of Object.keys(en)) {
      if (key.startsWith('$')) continue
      assert.ok(!seen.has(key), `the key ${key} is in both ${seen.get(key)} and ${area.name}`)
      seen.set(key, area.name)
      const parameters = (text) => [...new Set(JSON.stringify(text).match(/\{[a-z]\w*\}/g))].toSorted()
      assert.deepEqual(parameters(de[key]), parameters(en[key]), key)
    }
  }
})

long(
  'the theme follows the system until the person chooses one',
  async ({ visitor }) => {
    const { page } = await visitor({ colorScheme: 'dark' })
    await page.goto('/')
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme)
    assert.equal(await theme(), 'dark')
    await page.emulateMedia({ colorScheme: 'light' })
    await until('the theme to follow the system', async () => (await theme()) === 'light')
    await page.getByRole('button', { name: 'Appearance and language' }).click()
    await page.getByRole('menuitemradio', { name: 'Dark' }).click()
    await until('the theme to be dark', async () => (await theme()) === 'dark')
    await page.reload()
    assert.equal(await theme(), 'dark')
  },
  { chromium: 'Firefox does not receive the emulated theme' },
)
