// Every language on the narrowest phone, which equals 400 % zoom of a usual window. Each page is
// translated and laid out in the right direction, nothing scrolls sideways, and no text is cut off.
import assert from 'node:assert/strict'
import { mkdir, readdir } from 'node:fs/promises'
import { busy, pages } from './harness/busy.mjs'
import { stage, still } from './harness/stage.mjs'

const { test, long } = stage()

const languages = (await readdir(new URL('../app/src/messages/shared/', import.meta.url))).map((name) => name.replace('.json', ''))

/** The language tag that a browser sends, where it differs from the language's own tag. */
const asked = { en: 'en-GB', 'zh-Hans': 'zh-CN', ar: 'ar-EG' }

/** LONG_TESTS=1 SHOTS=folder SHOWN=ar,ja writes pictures, light and dark. */
const shown = (process.env.SHOWN ?? '').split(',')

/** The workshop, which all languages share. */
let made

/** Texts that do not fit into their boxes. */
function clipped() {
  const out = []
  for (const e of document.querySelectorAll('button, a, label, legend, th, dt, h1, h2, h3, [role=tab], .notice, .badge, p, li')) {
    if (
      e.closest('.markdown, [dir=auto], pre, code, .cm-editor, svg, .unseen') ||
      e.querySelector('[dir=auto]') ||
      !e.checkVisibility() ||
      !/\p{L}/u.test(e.textContent)
    )
      continue
    const style = getComputedStyle(e)
    if (/auto|scroll/.test(style.overflowX) || style.display === 'inline' || style.clip !== 'auto') continue
    // Letters of some scripts extend up to two pixels over their box. Text for screen readers is
    // only one pixel wide.
    if (e.clientWidth > 2 && e.scrollWidth > e.clientWidth + 2) out.push(`cut off by ${e.scrollWidth - e.clientWidth} px: ${e.textContent.trim().slice(0, 60)}`)
  }
  const over = document.documentElement.scrollWidth - innerWidth
  if (over > 0) {
    const wide = [...document.querySelectorAll('body *')].filter((e) => {
      const { left, right } = e.getBoundingClientRect()
      return right > innerWidth + 1 || left < -1
    })
    out.push(`${over} px too wide: ${wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 100))}`)
  }
  return out
}

/** Elements that are laid out toward the wrong side of the page. */
function astray() {
  const out = []
  const rtl = document.documentElement.dir === 'rtl'
  for (const e of document.querySelectorAll(':is(nav, th, td) [dir=auto], :is(th, td)[dir=auto]')) {
    const { textAlign, direction } = getComputedStyle(e)
    if (textAlign === 'start' && (direction === 'rtl') !== rtl) out.push(`aligned to the wrong side: ${e.textContent.trim().slice(0, 60)}`)
  }
  for (const e of document.querySelectorAll('aside')) {
    const { direction, borderTopLeftRadius, borderTopRightRadius } = getComputedStyle(e)
    if ((direction === 'rtl' ? borderTopRightRadius : borderTopLeftRadius) !== '0px') out.push('a box has a round corner on the side of its line')
  }
  for (const e of document.querySelectorAll('nav [aria-current=page]')) {
    const [one, all] = [e.getBoundingClientRect(), e.closest('nav').getBoundingClientRect()]
    if (e.checkVisibility() && (one.left < all.left - 1 || one.right > all.right + 1))
      out.push(`the link of the open page is outside the visible part of its bar: ${e.textContent}`)
  }
  if (rtl)
    for (const e of document.querySelectorAll('button, summary'))
      if (e.checkVisibility() && getComputedStyle(e, '::before').content.includes('▸'))
        out.push(`a triangle points in the wrong direction: ${e.textContent.trim().slice(0, 60)}`)
  return out
}

// The story in the right-to-left language finds the most faults, so only this one is in the short
// tier.
for (const language of languages) {
  const story = language === 'ar' ? test : long
  story(`in ${language} pages fit 320 pixels`, async (scene) => {
    const set = await (made ??= busy(scene))
    const options = { viewport: { width: 320, height: 640 }, reducedMotion: 'reduce', locale: asked[language] ?? language }
    const guest = await scene.visitor(options)
    const reader = await scene.visitor({ ...options, as: set.ann })
    const boss = await scene.visitor({ ...options, as: set.lead })
    for (const v of [guest, reader, boss]) v.expect(/404/)
    const bad = []
    /** Checks the current page. */
    const look = async (page, where) => {
      for (const fault of [...(await page.evaluate(clipped)), ...(await page.evaluate(astray))]) bad.push(`${where}: ${fault}`)
      if (!shown.includes(language) || !process.env.SHOTS) return
      await mkdir(process.env.SHOTS, { recursive: true })
      for (const scheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme: scheme })
        await page.screenshot({ path: `${process.env.SHOTS}/${language}-${where.replaceAll(/[^\w]+/g, '-').slice(0, 40)}-${scheme}.png` })
      }
    }
    const visit = async ({ page }, who) => {
      for (const [path, of] of pages(set)) {
        if (of !== who) continue
        const answer = await page.goto(path)
        const html = await answer.text()
        assert.match(html, new RegExp(`<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">`), path)
        await page.locator('h1').waitFor()
        await still(page)
        assert.deepEqual(await page.evaluate(() => [document.documentElement.lang, document.documentElement.dir]), [
          language,
          language === 'ar' ? 'rtl' : 'ltr',
        ])
        await look(page, path.replace(/[0-9a-f-]{36}/, 'id'))
      }
    }
    await Promise.all([
      visit(guest, null),
      visit(boss, 'lead'),
      (async () => {
        await visit(reader, set.ann)
        const { page } = reader
        // The pages after the steps, the overlays, and the panels that the lower bar opens.
        for (let i = 0; i < 7; i++) {
          await page.keyboard.press('j')
          await still(page)
          await look(page, `reader ${i}`)
        }
        for (const key of ['h', '?']) {
          await page.keyboard.press(key)
          await page.getByRole('dialog').waitFor()
          await look(page, `dialog ${key === 'h' ? 'help' : 'keys'}`)
          await page.keyboard.press('Escape')
          await page.getByRole('dialog').waitFor({ state: 'detached' })
        }
        await page.keyboard.press('c')
        await page.getByRole('log').waitFor()
        await look(page, 'chat')
      })(),
    ])
    const moving = await reader.page.evaluate(() => document.getAnimations().filter((a) => (a.effect?.getTiming().duration ?? 0) > 1).length)
    assert.equal(moving, 0)
    assert.deepEqual(bad, [])
  })
}

long('a page recovers after texts or a screen could not be loaded', async ({ visitor }) => {
  for (const [what, says] of [
    [/assets\/first-de-/, 'This page could not be loaded.'],
    [/assets\/Home-.*js/, 'Dieser Teil'],
  ]) {
    const guest = await visitor({ locale: 'de-DE' })
    guest.expect(/404|Failed to fetch dynamically imported module|disallowed MIME type/)
    const { page, context } = guest
    let loaded = 0
    page.on('request', (r) => r.isNavigationRequest() && loaded++)
    await context.route(what, (route) =>
      route.fulfill({
        status: 404,
        contentType: 'text/plain',
        body: 'there is no such file',
      }),
    )
    await page.goto('/')
    // The page reloads once, because the server could have another build by now.
    await page.waitForFunction(() => sessionStorage.getItem('atelier:reloaded') > 0)
    await page.getByRole('alert').filter({ hasText: says }).waitFor()
    await context.unroute(what)
    await page.getByRole('button').first().click()
    await page.getByRole('heading', { name: 'Workshop' }).first().waitFor()
    assert.ok(loaded <= 3, `loaded ${loaded} times, want at most 3`)
  }
})
