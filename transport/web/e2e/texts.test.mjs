// Parts of a text besides words: formulas, alerts, pictures that can be enlarged, diagrams, links and
// embedded pages. Messages between people can have code and links.
import assert from 'node:assert/strict'
import { inFirefox, sound, stage, still, until } from './harness/stage.mjs'

const { test, long } = stage({ env: { ATELIER_WEB_EMBED: 'player.example.org' } })
const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }

const drawing = (width, height) =>
  'data:image/svg+xml,' +
  encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"><rect width="100%" height="100%" fill="#1f5fbf"/><circle cx="50%" cy="50%" r="30%" fill="#fbfaf7"/></svg>`,
  )
    .replaceAll('(', '%28')
    .replaceAll(')', '%29')

const formulas =
  String.raw`The area of a circle is $A = \pi r^2$, a meal costs $5 and $6, and $\mathbb{R}$ has no end.

$$
\begin{aligned}
f(x) &= \int_0^x \frac{t^2}{1 + \sqrt{t}} \, dt \\
     &= \sum_{n=0}^{\infty} \frac{x^n}{n!}
\end{aligned}
$$

` +
  '```math\n' +
  String.raw`\begin{pmatrix} a & b \\ c & d \end{pmatrix} \begin{pmatrix} x \\ y \end{pmatrix} = \boxed{\mathbf{v}} \cdot \underbrace{a_1 + a_2 + a_3 + a_4 + a_5 + a_6 + a_7 + a_8 + a_9 + a_{10} + a_{11} + a_{12}}_{\text{twelve of them}}` +
  '\n```\n' +
  String.raw`
A fault is told: $\frac{1}{$ stays, and $\href{javascript:window.owned=1}{press}$ leads nowhere.`

const alerts =
  ['NOTE', 'TIP', 'IMPORTANT', 'WARNING', 'CAUTION'].map((k) => `> [!${k}]\n> What to know of \`${k.toLowerCase()}\`.\n`).join('\n') +
  '\nPositive\n: A box as before.\n\n> A quotation.\n'

const pictures = `![A circle on blue](${drawing(1600, 900)})

Before ![The plan of the house](/uploads/images/nowhere.png) behind.

![An old picture](http://pictures.example.org/a.png)

![](${drawing(20, 20)}) is a sign within a text.`

/**
 * Multiplies the time limits of formulas in a page by ten. On a busy machine, a harmless formula can
 * exceed the usual ones.
 */
const patient = (page) =>
  page.addInitScript(() => {
    const usual = window.setTimeout
    window.setTimeout = (f, ms, ...rest) => usual(f, ms === 200 || ms === 1000 ? 10 * ms : ms, ...rest)
  })

test('formulas are typeset, and paragraphs with formulas can be commented on', async ({ visitor, facilitator, person, note }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Curves', steps: [`# Curves\n\n${formulas}`, '# Two\n\nNone here.'] })
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann, viewport: { width: 1440, height: 1000 } })
  const { page } = guest
  await patient(page)
  const loaded = []
  page.on('response', (r) => /maths/.test(r.url()) && loaded.push(r))
  await page.goto(`/codelabs/${lab.id}?step=2`)
  await page.getByText('None here.').waitFor()
  await still(page)
  assert.equal(loaded.length, 0, 'a text without formulas loads code for them')

  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Curves' }).click()
  const text = page.locator('article .markdown')
  await text.locator('math').first().waitFor()
  for (const r of loaded) note(`${new URL(r.url()).pathname}: ${((await r.request().sizes()).responseBodySize / 1000).toFixed(1)} kB`)
  assert.equal(await text.locator('math').count(), 5)
  assert.equal(await text.locator('math[display=block]').count(), 2)
  assert.match(await text.locator('p').first().innerText(), /a meal costs \$5 and \$6/)
  assert.equal(await text.locator('math mi', { hasText: 'ℝ' }).count(), 1)
  assert.equal(
    await text
      .locator('math')
      .first()
      .evaluate((e) => e.getBoundingClientRect().height > 10),
    true,
  )
  // An invalid formula shows its source and the reason.
  const wrong = text.locator('[data-why]')
  assert.equal(await wrong.count(), 1)
  assert.match(await wrong.getAttribute('data-why'), /^This formula has an error: .+/)
  assert.equal(await wrong.innerText(), String.raw`$\frac{1}{$`)
  assert.equal(await text.locator('math a, math [href], math [style], math mglyph').count(), 0)

  // A selection from a word into a formula includes the whole formula.
  await page.evaluate(() => {
    const p = document.querySelector('article .markdown p')
    const range = document.createRange()
    range.setStart(p.firstChild, 'The '.length)
    const inside = p.querySelector('math mi').firstChild
    range.setEnd(inside, inside.length)
    getSelection().removeAllRanges()
    getSelection().addRange(range)
  })
  await text.dispatchEvent('pointerup')
  await page.getByRole('button', { name: 'Comment', exact: true }).click()
  await page.getByRole('dialog').getByLabel('Comment').fill('Why? `pi` is not $3$.')
  await page.getByRole('dialog').getByRole('button', { name: 'Comment' }).click()
  await page.getByRole('button', { name: /^Comment by/ }).waitFor()
  const [thread] = await lead.get(`/codelabs/${lab.id}/inline-comments`)
  assert.equal(thread.selected_text, String.raw`area of a circle is $A = \pi r^2$`)
  assert.equal(thread.start_offset, 4)
  await page.goto(`/codelabs/${lab.id}?step=1`)
  await text.locator('math').first().waitFor()
  await page.getByRole('button', { name: /^Comment by/ }).waitFor()
  const marked = await page.evaluate(() => {
    const [range] = CSS.highlights.get('comment')
    return [range.toString().slice(0, 20), range.endContainer.nodeName, range.getClientRects().length > 0]
  })
  assert.deepEqual(marked, ['area of a circle is ', 'P', true])
  await sound(page, 'texts-maths')
  const small = await visitor({ as: ann, ...phone })
  await small.page.goto(`/codelabs/${lab.id}?step=1`)
  await small.page.locator('math').first().waitFor()
  assert.equal(await small.page.evaluate(() => document.documentElement.scrollWidth), 390)
  await sound(small.page, 'texts-maths-small')
})

long('alerts are boxes with a name', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Boxes', steps: [`# Boxes\n\n${alerts}\n> [!NOTE]\n> seen\n>\n> \`\`\`notes\n> secret\n> \`\`\`\n`] })
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann, viewport: { width: 1440, height: 1000 } })
  await page.goto(`/codelabs/${lab.id}`)
  const boxes = page.locator('article aside')
  await boxes.first().waitFor()
  assert.deepEqual(
    await boxes.evaluateAll((all) =>
      all.map((e) =>
        getComputedStyle(e, '::before')
          .content.replaceAll('"', '')
          .replace(/ *attr\(data-label\)/, ' ' + e.dataset.label),
      ),
    ),
    ['● Note', '● Tip', '◆ Important', '▲ Warning', '■ Caution', 'none', '● Note'],
  )
  assert.doesNotMatch(await page.locator('article').innerText(), /secret|\[!/)
  await sound(page, 'texts-alerts')
  await page.evaluate(() => localStorage.setItem('atelier:language', 'de'))
  await page.reload()
  await boxes.first().waitFor()
  assert.match(await boxes.nth(3).evaluate((e) => e.dataset.label), /Warnung/)
})

long('pictures can be enlarged, and missing ones show their description', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Pictures', steps: [`# Pictures\n\n${pictures}`] })
  const ann = await person(lab, 'Attendee 1')
  for (const [options, name] of [
    [{ viewport: { width: 1440, height: 1000 } }, 'wide'],
    [phone, 'phone'],
  ]) {
    const guest = await visitor({ as: ann, ...options })
    guest.expect(/404/)
    const { page } = guest
    await page.goto(`/codelabs/${lab.id}`)
    const picture = page.getByRole('button', { name: 'Enlarge the picture: A circle on blue' })
    await picture.waitFor()
    const missing = page.locator('article .missing')
    await until('both pictures to be shown as missing', async () => (await missing.count()) === 2)
    assert.deepEqual(await missing.evaluateAll((all) => all.map((e) => e.getAttribute('aria-label'))), [
      'The picture is missing: The plan of the house',
      'The picture is missing: An old picture',
    ])
    // Each notice of a missing picture is as high as a line.
    assert.deepEqual(await missing.evaluateAll((all) => all.map((e) => e.getBoundingClientRect().height)), [26, 26])
    assert.equal(await page.locator('article img').count(), 2)
    await sound(page, `texts-pictures-${name}`)
    const dialog = page.getByRole('dialog', { name: 'Picture' })
    if (name === 'wide') {
      await picture.focus()
      await page.keyboard.press('Enter')
    } else await picture.tap()
    await dialog.getByText('A circle on blue').waitFor()
    await dialog.getByRole('img', { name: 'A circle on blue' }).waitFor()
    const width = () => dialog.getByRole('img').evaluate((e) => e.getBoundingClientRect().width)
    await until('the picture to be large', async () => (await width()) > (name === 'wide' ? 1200 : 300))
    await sound(page, `texts-picture-${name}`)
    const whole = dialog.getByRole('button', { name: 'Full size' })
    await whole.click()
    await until('the picture to have its natural width', async () => (await width()) === 1600)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await until('the focus to return to the picture', () => picture.evaluate((e) => e === document.activeElement))
  }
})

const said = [
  'Try `go run . --port=8080` first.',
  '```go',
  'func main() {',
  '\thttp.ListenAndServe(":8080", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "a line that is much longer than any bubble") }))',
  '}',
  '```',
  'See https://pkg.go.dev/net/http#ListenAndServe, or [the guide](https://go.dev/doc/). **Not bold**, <b>no</b>, [x](javascript:alert(1)).',
].join('\n')

long('chat and help requests show code and links', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'Code', steps: ['# One\n\nPlain words to comment on.'] })
  const ann = await person(lab, 'Attendee 1')
  const ben = await person(lab, 'Attendee 2')
  await ann.say(lab, { type: 'chat', message: said })
  await ben.say(lab, { type: 'dm', target_id: ann.id, message: said })
  await lead.put(`/codelabs/${lab.id}/pin`, { message: 'Pull first:\n```sh\ngit pull --rebase origin main && go build ./...\n```' })
  await ann.post(`/codelabs/${lab.id}/help`, {
    step_number: 1,
    message: 'It says `connection refused` and\n```\npanic: runtime error: index out of range [5] with length 5, goroutine 1 running\n```',
  })
  const words = 'Plain words to comment on'
  await ann.post(`/codelabs/${lab.id}/inline-comments`, {
    anchor_key: `step|${lab.steps[0].id}|h|0|${words.length}`,
    target_type: 'step',
    target_step_id: lab.steps[0].id,
    start_offset: 0,
    end_offset: words.length,
    selected_text: words,
    content_hash: 'h',
    message: said,
  })
  const check = async (box) => {
    await box.locator('pre').waitFor()
    assert.equal(await box.locator('code').first().textContent(), 'go run . --port=8080')
    assert.match(await box.locator('pre').textContent(), /^func main\(\) \{\n\t.*\n\}$/)
    const links = await box.locator('a').evaluateAll((all) => all.map((a) => [a.textContent, a.href, a.rel, a.referrerPolicy, a.target]))
    const how = ['noopener noreferrer nofollow', 'no-referrer', '_blank']
    assert.deepEqual(links, [
      ['https://pkg.go.dev/net/http#ListenAndServe', 'https://pkg.go.dev/net/http#ListenAndServe', ...how],
      ['the guide', 'https://go.dev/doc/', ...how],
    ])
    assert.match(await box.textContent(), /\*\*Not bold\*\*, <b>no<\/b>, \[x\]\(javascript:alert\(1\)\)\.$/)
    // The long line scrolls inside its box.
    const [inner, outer, whole] = await box.evaluate((e) => [
      e.querySelector('pre').scrollWidth > e.querySelector('pre').clientWidth,
      e.scrollWidth <= e.clientWidth,
      document.documentElement.scrollWidth <= innerWidth,
    ])
    assert.deepEqual([inner, outer, whole], [true, true, true])
  }
  for (const [options, name] of [
    [{ viewport: { width: 1440, height: 1000 } }, 'wide'],
    [{ ...phone, viewport: { width: 320, height: 700 } }, 'phone'],
  ]) {
    const { page } = await visitor({ as: ann, ...options })
    await page.goto(`/codelabs/${lab.id}`)
    await page.getByText(words).first().waitFor()
    if (name === 'phone') await page.getByRole('button', { name: /Chat/ }).last().click()
    await check(page.getByRole('log').locator('.text').first())
    await sound(page, `texts-chat-${name}`)
    await page.getByRole('button', { name: /^Direct/ }).click()
    await page.getByRole('button', { name: /^Attendee 2/ }).click()
    await check(page.getByRole('log').locator('.text').first())
    await page.getByRole('tab', { name: /Comments/ }).click()
    await check(
      page
        .getByRole('region', { name: /^Comment/ })
        .locator('.text')
        .first(),
    )
    await sound(page, `texts-comments-${name}`)
  }
  const boss = await visitor({ as: lead, viewport: { width: 1440, height: 900 } })
  await boss.page.goto(`/admin/${lab.id}`)
  const request = boss.page.getByRole('listitem').filter({ hasText: 'connection refused' })
  await request.locator('pre').waitFor()
  assert.equal(await request.locator('button pre, button a').count(), 0)
  await check(boss.page.getByRole('log').locator('.text').first())
  await sound(boss.page, 'texts-floor')
  await boss.page.goto(`/admin/${lab.id}/projector`)
  await boss.page.getByText('git pull --rebase').waitFor()
  await sound(boss.page, 'texts-projector')
})

long('hostile texts stop neither the page nor the text beside them', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const bomb = String.raw`$\def\a{xxxxxxxxxx}\def\b{\a\a\a\a\a\a\a\a\a\a}\def\c{\b\b\b\b\b\b\b\b\b\b}\def\d{\c\c\c\c\c\c\c\c\c\c}\d\d\d\d$`
  const lab = await lead.codelab({
    title: 'Hostile',
    steps: [
      ['# One', `Good: $x^2$.`, bomb, `$${'{'.repeat(2000)}$`, '```math\n' + 'x^'.repeat(15_000) + '\n```', '$'.repeat(3000), '$a '.repeat(3000)].join('\n\n'),
      [
        '# Two',
        String.raw`$\includegraphics[width=9999em]{https://example.org/a.png}\htmlStyle{position:fixed}{x}\url{javascript:a}\htmlData{a=b}{c}$`,
        String.raw`$\rule{9999em}{9999em}$`,
        '> '.repeat(90) + '[!NOTE]\n' + '> '.repeat(90) + 'deep',
        '> [!NOTE]\n> > [!TIP]\n> > inner',
      ].join('\n\n'),
      [
        '# Three',
        '![a](https://[bad)',
        '![b](data:text/html,x)',
        '![c](//)',
        '![d](javascript:window.owned=1)',
        '![e](blob:x)',
        '![f]()',
        '![g](\\\\host\\x.png)',
        'End.',
      ].join('\n\n'),
    ],
  })
  const ann = await person(lab, 'Attendee 1')
  await ann.say(lab, { type: 'chat', message: '`'.repeat(1999) })
  await ann.say(lab, { type: 'chat', message: '[a](https://b'.repeat(140) })
  await ann.say(lab, { type: 'chat', message: 'https://user:secret@example.org https://[bad https://a' + ')'.repeat(1800) })
  const guest = await visitor({ as: ann, viewport: { width: 1280, height: 800 } })
  guest.expect(/404/, /ERR_/, /Not allowed to load local resource/)
  const { page } = guest
  await patient(page)
  await page.goto(`/codelabs/${lab.id}`)
  await page.locator('article math').first().waitFor()
  await until('the other formulas to show why they are not typeset', async () => (await page.locator('article [data-why]').count()) >= 3)
  assert.equal(await page.locator('article math').count(), 1)
  // The chat is loaded after the text.
  const chat = page.getByRole('log').locator('.text')
  await chat.nth(2).waitFor()
  assert.equal(await chat.locator('a').count(), 1)
  for (const [name, text] of [
    ['Two', 'inner'],
    ['Three', 'End.'],
  ]) {
    await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name }).click()
    await page.getByText(text, { exact: true }).waitFor()
    await still(page)
    assert.equal(await page.evaluate(() => window.owned), undefined)
    assert.equal(await page.locator('article [style*=fixed], article a[href], article math [href], article math [src]').count(), 0)
    assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 1280)
  }
  await until('all pictures to be shown as missing', async () => (await page.locator('article .missing').count()) === 7)
})

test('links lead to places in this step and in others, and broken links are text', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const far = Array.from({ length: 60 }, (_, i) => `Line ${i}.`).join('\n\n')
  const lab = await lead.codelab({ title: 'Places' })
  const steps = [
    {
      title: 'One',
      content_markdown: `[below](#second-part) [again](#second-part-1) [old](#anchor) [next](#two-of-two) [deep](#deeper) [other](other-lab.md) [about](/about)\n\n| n | c | l | r |\n|---|:-:|:--|--:|\n| 1 | 2 | 3 | 4 |\n\n${far}\n\n### Second part\n\n${far}\n\n### Second part\n\n<a name="anchor"></a>\n\nEnd.`,
    },
    { title: 'Two: of two', content_markdown: `Here.\n\n${far}\n\n## Deeper\n\nThere.` },
  ]
  await lead.put(`/codelabs/${lab.id}/steps`, { steps })
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann, viewport: { width: 1440, height: 1000 } })
  await page.goto(`/codelabs/${lab.id}?step=1`)
  const text = page.locator('article .markdown')
  const link = (name) => text.getByRole('link', { name, exact: true })
  await link('below').waitFor()
  const seen = async (what) => {
    await until('the place to be in view', async () =>
      what.evaluate((e) => {
        const box = e.getBoundingClientRect()
        return box.top >= 0 && box.top < innerHeight
      }),
    )
  }
  const top = () => page.evaluate(() => document.querySelector('main').scrollTo(0, 0))
  const headings = text.getByRole('heading', { name: 'Second part' })
  for (const [name, place] of [
    ['below', headings.first()],
    ['again', headings.last()],
    ['old', text.locator('#user-content-anchor')],
  ]) {
    await top()
    await link(name).click()
    await seen(place)
  }
  assert.equal(new URL(page.url()).pathname, `/codelabs/${lab.id}`)
  // The columns have the alignment that the table defines.
  assert.deepEqual(await text.locator('td').evaluateAll((all) => all.map((e) => getComputedStyle(e).textAlign)), ['start', 'center', 'left', 'right'])
  // Neither target exists here, so the links are plain text.
  assert.equal(await text.getByRole('link', { name: /other|about/ }).count(), 0)
  assert.equal(await text.getByText('other').count(), 1)
  await top()
  await link('next').click()
  await page.getByRole('heading', { name: 'Two: of two' }).waitFor()
  await page.goto(`/codelabs/${lab.id}?step=1`)
  await link('deep').click()
  await text.getByRole('heading', { name: 'Deeper' }).waitFor()
  await seen(text.getByRole('heading', { name: 'Deeper' }))
  // The heading stays in the address, so that a reload shows it again.
  await page.goto(`/codelabs/${lab.id}?step=2#deeper`)
  await seen(text.getByRole('heading', { name: 'Deeper' }))
  assert.equal(new URL(page.url()).hash, '#deeper')
  await page.reload()
  await seen(text.getByRole('heading', { name: 'Deeper' }))
})

const diagrams = [
  '```mermaid\nflowchart LR\n  accTitle: Who asks whom\n  A[Browser] -->|asks| B{Server}\n  B --> C[(Store)]\n  B --> D["a **long** label <br/> of two lines"]\n```',
  '```mermaid\nsequenceDiagram\n  participant A as Ann\n  A->>B: Hello\n  B-->>A: Hi\n```',
  '```mermaid\nflowchart LR\n  A -->\n```',
  '```mermaid\n%% ' + '字'.repeat(17_000) + '\nflowchart LR\n  A --> B\n```',
]

test('emoji, footnotes and diagrams are shown', async ({ visitor, facilitator, person, note }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({
    title: 'Drawn',
    steps: [
      `# Drawn\n\nDone :tada: \`:tada:\`, see[^why].\n\n${diagrams.join('\n\n')}\n\n[^why]: Because[^1].\n[^1]: It is so.\n\nEnd.`,
      '# Plain\n\nNothing drawn.',
    ],
  })
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann, viewport: { width: 1440, height: 1000 } })
  const { page } = guest
  const loaded = []
  page.on('response', (r) => /emoji|diagram/.test(r.url()) && loaded.push(r))
  await page.goto(`/codelabs/${lab.id}?step=2`)
  await page.getByText('Nothing drawn.').waitFor()
  await still(page)
  assert.equal(loaded.length, 0, 'a text without diagrams loads code for them')
  await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Drawn' }).click()
  const text = page.locator('article .markdown')
  await text.getByText('Done 🎉 :tada:, see').waitFor()

  // The links of the footnote lead to its text and back, and the focus follows.
  const reference = text.getByRole('link', { name: 'Footnote 1' })
  const list = text.getByRole('region', { name: 'Footnotes' })
  assert.match(await list.innerText(), /Because2\. ↩\s+It is so\. ↩/)
  await reference.focus()
  await page.keyboard.press('Enter')
  await until('the footnote to have the focus', () =>
    list
      .locator('li')
      .first()
      .evaluate((e) => e === document.activeElement),
  )
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await until('the reference to have the focus', () => reference.evaluate((e) => e === document.activeElement))

  const pictures = text.locator('figure.diagram img')
  await until('two diagrams and two texts with an error', async () => (await pictures.count()) === 2 && (await text.locator('[data-why]').count()) === 2)
  note(`${loaded.length} answers for emoji and diagrams`)
  assert.deepEqual(await pictures.evaluateAll((all) => all.map((e) => e.alt)), ['Who asks whom', 'Diagram. Its source is below it.'])
  const drawn = await pictures.first().evaluate(async (img) => {
    await img.decode()
    return { width: img.naturalWidth, svg: decodeURIComponent(img.src) }
  })
  assert.ok(drawn.width > 200, `the diagram is ${drawn.width} pixels wide, want more than 200`)
  assert.match(drawn.svg, /Browser/)
  assert.doesNotMatch(drawn.svg, /foreignObject|<script|https?:\/\/(?!www\.w3\.org)/)
  assert.match(await text.locator('[data-why]').first().getAttribute('data-why'), /^The diagram has an error: /)
  assert.match(await text.locator('[data-why]').last().getAttribute('data-why'), /longer than 50 kB/)
  // The frame has no origin and none of the page's permissions.
  const frame = page.locator('iframe')
  assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts')
  const inside = await (await frame.elementHandle()).contentFrame()
  guest.expect(/\/api\/app/) // the code below tries this request in the frame, and is refused
  const rights = await inside.evaluate(async () => {
    const tried = async (what) => {
      try {
        await what()
        return 'done'
      } catch {
        return 'refused'
      }
    }
    return [origin, await tried(() => fetch('/api/app')), await tried(() => parent.document.title), await tried(() => localStorage.length)]
  })
  assert.deepEqual(rights, ['null', 'refused', 'refused', 'refused'])
  // The source of the diagram can be opened.
  await text.getByText('accTitle: Who asks whom').waitFor({ state: 'hidden' })
  await text.locator('summary').first().click()
  await text.getByText('accTitle: Who asks whom').waitFor()
  await text.locator('summary').first().click()
  if (!inFirefox) {
    // In the dark theme, the diagram is dark.
    const light = await pictures.first().getAttribute('src')
    await page.emulateMedia({ colorScheme: 'dark' })
    await until('the diagram to be redrawn', async () => (await pictures.first().getAttribute('src')) !== light)
    await page.emulateMedia({ colorScheme: 'light' })
    await until('the diagram to be light again', async () => (await pictures.first().getAttribute('src')) === light)
  }
  await sound(page, 'texts-drawn')
})

test('pages of other servers are links, and allowed ones are shown after a press', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({
    title: 'Embedded',
    steps: [
      '# Embedded\n\n<iframe src="https://player.example.org/a?b=1" title="A player" width="400" height="300"></iframe>\n\nOr <iframe src="https://other.example.org/x"></iframe> beside text.\n\n' +
        `[![A still](${drawing(200, 100)})](https://player.example.org/film)\n\nEnd.`,
    ],
  })
  const ann = await person(lab, 'Attendee 1')
  const guest = await visitor({ as: ann, viewport: { width: 1440, height: 1000 } })
  const { page } = guest
  const asked = []
  await page.route('https://*.example.org/**', async (route) => {
    asked.push([route.request().url(), await route.request().headerValue('referer')])
    await route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Played</title><p>Playing' })
  })
  await page.goto(`/codelabs/${lab.id}`)
  const text = page.locator('article .markdown')
  const show = text.getByRole('button', { name: 'Show content from player.example.org' })
  await until('two allowed pages', async () => (await show.count()) === 2)
  assert.equal(await text.getByRole('link', { name: 'A player' }).getAttribute('href'), 'https://player.example.org/a?b=1')
  assert.equal(await text.getByRole('link', { name: 'other.example.org' }).getAttribute('href'), 'https://other.example.org/x')
  assert.equal(await page.locator('iframe').count(), 0)
  assert.deepEqual(asked, [], 'a page is loaded before the press')
  await sound(page, 'texts-embeds')
  await show.first().click()
  await page.frameLocator('iframe[title="A player"]').getByText('Playing').waitFor()
  assert.deepEqual(asked, [['https://player.example.org/a?b=1', null]])
  const frame = page.locator('iframe')
  assert.deepEqual(await frame.evaluate((f) => [f.getAttribute('sandbox'), f.referrerPolicy, f.offsetWidth, f.offsetHeight]), [
    'allow-scripts allow-same-origin allow-presentation',
    'no-referrer',
    400,
    300,
  ])
  await show.click()
  await page.frameLocator('iframe[title="A still"]').getByText('Playing').waitFor()
})
