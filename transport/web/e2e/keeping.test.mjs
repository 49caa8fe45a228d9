// The page to take home: guide and steps on one page, for print.
import assert from 'node:assert/strict'
import { onPaper, sound, stage, until } from './harness/stage.mjs'

const { test } = stage()

const steps = [
  {
    title: 'Look around',
    content_markdown:
      'Read [the manual](https://example.org/manual) or https://example.org/all.\n\n<details><summary>A hint</summary>\n\nLook behind it.\n\n</details>\n\n```notes\nFor us alone.\n```\n\nMore.\n',
  },
  { title: 'Say hello', content_markdown: '```sh\n' + 'echo a line that is longer than the paper is wide; '.repeat(6) + '\n```\n' },
]

/** The printed text after each link. */
const behind = (page) =>
  page.locator('article section a').evaluateAll((links) => links.map((a) => getComputedStyle(a, '::after').content).map((c) => (c === 'none' ? '' : c)))

test('all steps are on one page, and can be printed with options', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'To keep', guide_markdown: 'Bring a laptop.\n', steps })
  const ann = await person(lab, 'Ann')
  const { page } = await visitor({ as: ann, viewport: { width: 1280, height: 800 }, colorScheme: 'dark' })
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('link', { name: 'All on one page' }).first().click()
  await page.getByRole('heading', { level: 1, name: 'To keep' }).waitFor()
  for (const name of ['Before you start', '1 Look around', '2 Say hello']) await page.getByRole('heading', { level: 2, name }).waitFor()
  await page.getByText('Look behind it.').waitFor() // hints are open
  assert.equal(await page.getByText('For us alone.').count(), 0)
  assert.equal(await page.getByLabel('notes for facilitators').count(), 0)
  await sound(page, 'whole')

  await onPaper(page, async () => {
    assert.deepEqual(await behind(page), ['" (https://example.org/manual)"', ''])
    assert.equal(
      await page
        .locator('article section')
        .nth(1)
        .evaluate((s) => getComputedStyle(s).breakBefore),
      'page',
    )
    assert.equal(await page.getByRole('button', { name: 'Print or save as PDF' }).isVisible(), false)
    // Paper is always white.
    assert.equal(await page.locator('html').evaluate((e) => getComputedStyle(e).getPropertyValue('--paper').trim()), await light(page))
    const whole = await page.pdf({ format: 'A4' })
    assert.equal(pages(whole), 4) // title and contents, guide, two steps
  })

  for (const name of ['start each step on a new page', 'hints open', 'show link addresses']) await page.getByLabel(name).uncheck()
  await until('the hint to close', async () => !(await page.getByText('Look behind it.').isVisible()))
  await onPaper(page, async () => {
    assert.deepEqual(await behind(page), ['', ''])
    assert.equal(pages(await page.pdf({ format: 'A4' })), 1)
  })
  // The options are stored on the device.
  await page.reload()
  await page.getByRole('heading', { level: 1, name: 'To keep' }).waitFor()
  assert.equal(await page.getByLabel('hints open').isChecked(), false)

  // Facilitators can print the notes, too.
  const own = (await visitor({ as: lead, viewport: { width: 390, height: 844 } })).page
  await own.goto(`/codelabs/${lab.id}/all`)
  await own.getByRole('heading', { level: 2, name: 'Look around' }).waitFor()
  assert.equal(await own.getByText('For us alone.').count(), 0)
  await own.getByLabel('notes for facilitators').check()
  await own.getByText('For us alone.').waitFor()
  assert.ok(await own.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'the page is wider than the phone')

  // People who have not joined see a notice.
  const closed = await lead.codelab({ title: 'Closed', is_public: false, steps })
  const stranger = await visitor()
  stranger.expect(/401/)
  await stranger.page.goto(`/codelabs/${closed.id}/all`)
  await stranger.page.getByText('Only people who have joined can see this codelab.').waitFor()
})

const light = (page) =>
  page.evaluate(() => {
    const was = document.documentElement.dataset.theme
    document.documentElement.dataset.theme = 'light'
    const value = getComputedStyle(document.documentElement).getPropertyValue('--paper').trim()
    document.documentElement.dataset.theme = was
    return value
  })

/** The number of pages in a PDF. */
const pages = (pdf) => pdf.toString('latin1').match(/\/Type\s*\/Page[^s]/g)?.length ?? 0
