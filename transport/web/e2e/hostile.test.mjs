// Hostile texts in every place that shows user input: no part of them runs, and the policy reports
// no violation.
import assert from 'node:assert/strict'
import { stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()

const attacks = [
  '<img src=x onerror="window.owned=1">',
  '<script>window.owned=1</script>',
  '<svg onload="window.owned=1"><script>window.owned=1</script></svg>',
  '<a href="javascript:window.owned=1">press</a>',
  '[press](javascript:window.owned=1)',
  '[press](data:text/html;base64,PHNjcmlwdD5vcGVuZXIub3duZWQ9MTwvc2NyaXB0Pg==)',
  '![x](x" onerror="window.owned=1)',
  '<iframe srcdoc="<script>parent.owned=1</script>"></iframe>',
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=x onerror=window.owned=1&gt;">',
  '<form action="/api/logout" method="post"><button formaction="javascript:window.owned=1">press</button></form>',
  '<style>@import "//example.org/x.css"; * { display: none !important }</style>',
  '<div style="position:fixed;inset:0;background:url(//example.org/x)">over all</div>',
  '<base href="//example.org/">',
  '<meta http-equiv="refresh" content="0;url=//example.org/">',
  '<input autofocus onfocus="window.owned=1">',
  '<details open ontoggle="window.owned=1"><summary>x</summary></details>',
  '<button popovertarget="x" id="app">x</button>',
  '<a id="app" name="main" href="#">clobber</a>',
  '{{constructor.constructor("window.owned=1")()}}',
]
const all = attacks.join('\n\n')
const short = '"><img src=x onerror=window.owned=1>'

/**
 * Checks that nothing ran, that no forbidden element is shown, that no link runs a script, and that
 * the page still belongs to the app.
 */
const calmOn = (server) => async (page, what) => {
  await still(page)
  assert.equal(await page.evaluate(() => window.owned), undefined, `a script ran ${what}`)
  assert.equal(
    await page.evaluate(
      () =>
        document.querySelectorAll('main iframe, main form[action], main style, main [onerror], main [onload], main [style*="fixed"], main base, main meta')
          .length,
    ),
    0,
    `there are forbidden elements ${what}`,
  )
  assert.equal(
    await page.evaluate(() => [...document.querySelectorAll('a[href]')].some((a) => /^(javascript|data|vbscript):/i.test(a.href))),
    false,
    `a link has a script ${what}`,
  )
  assert.equal(new URL(page.url()).host, new URL(server.url).host)
}

test('no text from a person runs a script', async ({ visitor, facilitator, person, server }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({
    title: `T${short}`,
    description: all.slice(0, 3000),
    author: `A${short}`,
    guide_markdown: all,
    quiz_enabled: true,
    steps: [
      { title: `S${short}`, content_markdown: `Plain words to comment on.\n\n${all}` },
      { title: 'Two', content_markdown: '```<img src=x onerror=window.owned=1>\n<script>window.owned=1</script>\n```' },
    ],
  })
  const ann = await person(lab, `Ann${short}`)
  const ben = await person(lab, 'Attendee 2')
  await ann.say(lab, { type: 'chat', message: all.slice(0, 2000) })
  await ann.say(lab, { type: 'dm', target_id: ben.id, message: short })
  await lead.say(lab, { type: 'broadcast', message: short })
  await lead.put(`/codelabs/${lab.id}/pin`, { message: all.slice(0, 2000) })
  await ann.post(`/codelabs/${lab.id}/help`, { step_number: 1, message: short })
  await lead.put(`/codelabs/${lab.id}/quizzes`, [{ question: `Q${short}`, quiz_type: 'multiple_choice', options: [`O${short}`, 'b'], correct_answer: 0 }])
  await lead.post(`/codelabs/${lab.id}/materials`, { title: `M${short}`, material_type: 'link', link_url: 'https://example.org/"onmouseover="window.owned=1' })
  const words = 'Plain words to comment on'
  await ann.post(`/codelabs/${lab.id}/inline-comments`, {
    anchor_key: `step|${lab.steps[0].id}|h|0|${words.length}`,
    target_type: 'step',
    target_step_id: lab.steps[0].id,
    start_offset: 0,
    end_offset: words.length,
    selected_text: words,
    content_hash: 'h',
    message: short,
  })
  const file = new FormData()
  file.append('file', new Blob(['<script>opener.owned=1</script>'], { type: 'text/html' }), 'x.html')
  await ann.post(`/codelabs/${lab.id}/attendees/${ann.id}/submissions`, file)
  await ann.post(`/codelabs/${lab.id}/attendees/${ann.id}/submissions/link`, { url: 'https://example.org/', title: short })
  await ben.post(`/codelabs/${lab.id}/feedback`, { difficulty: '1', satisfaction: '5', comment: all.slice(0, 2000) })
  await ben.post(`/codelabs/${lab.id}/complete`)

  const calm = calmOn(server)

  // An attendee reads, opens and presses everything. Missing pictures are not an error of the page.
  const guest = await visitor({ as: ben })
  guest.expect(/404/, /ERR_(NAME_NOT_RESOLVED|INTERNET|CONNECTION|ABORTED|BLOCKED|FAILED|TUNNEL|ADDRESS)/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByText(words).waitFor()
  await calm(page, 'in the first step')
  const links = await page.getByRole('main').getByText('press').all()
  assert.ok(links.length > 0, 'there is nothing to press')
  let pressed = 0
  for (const link of links)
    await link.click({ timeout: 5000, noWaitAfter: true }).then(
      () => pressed++,
      () => {},
    )
  assert.ok(pressed > 0, 'nothing could be pressed')
  await calm(page, 'after the links were pressed')
  await page.getByRole('button', { name: /^Comment by/ }).click()
  await page.getByRole('tab', { name: /Comments/ }).click()
  await calm(page, 'in the comments')
  await page.getByRole('tab', { name: 'Files' }).click()
  await page.getByRole('link', { name: /^M"/ }).waitFor()
  await calm(page, 'in the files')
  await page.getByRole('tab', { name: 'Chat' }).click()
  await page.getByRole('button', { name: /^Direct/ }).click()
  await calm(page, 'in the messages')
  for (const name of ['Two', 'Before you start', 'Quiz', 'Hand in work', 'Complete']) {
    await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name }).click()
    await page.getByRole('heading', { level: 2, name }).waitFor()
    await calm(page, `on ${name}`)
  }
  for (const path of [`/certificate/${ben.id}`, `/verify/${ben.id}`, `/j/${lab.join_code}`, '/']) {
    await page.goto(path)
    await calm(page, `on ${path}`)
  }

  // A facilitator sees the same people and texts.
  const boss = await visitor({ as: lead })
  boss.expect(/404/, /ERR_/)
  for (const path of [
    '',
    `/${lab.id}`,
    `/${lab.id}/edit`,
    `/${lab.id}/results`,
    `/${lab.id}/settings`,
    `/${lab.id}/settings/certificate`,
    `/${lab.id}/settings/quiz`,
    `/${lab.id}/projector`,
    '/audit-logs',
    '/participants',
    '/settings',
  ]) {
    await boss.page.goto(`/admin${path}`)
    await calm(boss.page, `on /admin${path}`)
  }
})

long('no file name runs a script in the editor, the code, the materials or submitted work', async ({ visitor, facilitator, person, server }) => {
  const calm = calmOn(server)
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Attendee 1')
  // The most hostile file names that the server accepts for uploads.
  const names = [
    `a"><img src=x onerror=window.owned=1>.txt`,
    `<svg onload="window.owned=1">.svg`,
    `javascript:window.owned=1`,
    `'";window.owned=1;'.html`,
    `%2e%2e%2f%2e%2e%2fetc.txt`,
    `{{constructor}}\u202etxt.exe`,
  ]
  // In code, the server accepts no file names with characters that Windows forbids.
  const coded = [
    `a' onerror='window.owned=1.txt`,
    `&lt;img src=x onerror=window.owned=1&gt;.svg`,
    `javascript&colon;window.owned=1`,
    `';window.owned=1;'.html`,
    `%2e%2e%2f%2e%2e%2fetc.txt`,
    `{{constructor}}\u202etxt.exe`,
  ]
  const inside = '<script>opener.owned=1;window.owned=1</script>'
  await lead.post('/codeserver', {
    codelab_id: lab.id,
    structure_type: 'branch',
    workspace_files: coded.map((path) => ({ path: `dir&lt;b&gt;/${path}`, content: inside })),
  })
  for (const name of names) {
    const file = new FormData()
    file.append('file', new File([inside], name, { type: 'text/html' }))
    await ann.post(`/codelabs/${lab.id}/attendees/${ann.id}/submissions`, file)
    const material = new FormData()
    material.append('file', new File([inside], name, { type: 'text/html' }))
    const up = await lead.post('/upload/material', material)
    await lead.post(`/codelabs/${lab.id}/materials`, { title: up.original_name, material_type: 'file', file_path: up.url })
  }

  const boss = await visitor({ as: lead })
  boss.expect(/404/)
  const { page } = boss
  page.on('dialog', (d) => void d.accept())
  await page.goto(`/admin/${lab.id}/code`)
  const files = page.getByRole('list', { name: 'Files' })
  for (const name of coded) {
    await files.getByRole('button', { name }).click()
    await page
      .getByRole('textbox', { name: `Text of dir&lt;b&gt;/${name}` })
      .getByText('window.owned')
      .waitFor()
    await calm(page, `with ${name} open`)
  }
  // A new file in a folder is written and saved.
  await page.getByRole('button', { name: 'Add a file' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Path').fill(`new/${coded[0]}`)
  await dialog.getByRole('button', { name: 'Add' }).click()
  await page.getByRole('textbox', { name: `Text of new/${coded[0]}` }).click()
  await page.keyboard.type(inside)
  await page.keyboard.press('Control+s')
  await page.getByText('The files are saved.').waitFor()
  await calm(page, 'after a save')
  await page.getByLabel('Branch', { exact: true }).waitFor()

  // Pictures are inserted into the text under their file names.
  await page.goto(`/admin/${lab.id}/edit`)
  const text = page.getByRole('textbox', { name: /^Text of step 1/ })
  await text.getByText('The first step.').waitFor()
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')
  await page
    .locator('input[type=file]')
    .first()
    .setInputFiles({ name: `](javascript:window.owned=1) ${names[0]}.png`, mimeType: 'image/png', buffer: png })
  await page.getByRole('region', { name: 'Preview' }).locator('img').waitFor()
  await calm(page, 'with a picture of a hostile name')

  await page.goto(`/admin/${lab.id}/results`)
  await page.getByRole('tab', { name: 'Work' }).click()
  await page.getByText('onerror').first().waitFor()
  await calm(page, 'in the results')
  const looks = await page.getByRole('button', { name: /^Look/ }).all()
  assert.ok(looks.length > 0, 'no file has a preview')
  for (const button of looks) {
    await button.click()
    await page.getByRole('dialog').waitFor()
    await calm(page, 'in the preview of a file')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
  }
  const guest = await visitor({ as: ann })
  await guest.page.goto(`/codelabs/${lab.id}`)
  await guest.page.getByRole('tab', { name: 'Files' }).click()
  await guest.page.getByText('onerror').first().waitFor()
  await calm(guest.page, 'in the files')
  await guest.page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name: 'Hand in work' }).click()
  await guest.page.getByText('onerror').first().waitFor()
  await calm(guest.page, 'where work is handed in')
})

long('only allowed elements, attributes and links of a text are shown', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const written = [
    // Elements and attributes that imitate parts of the app, take its ids, or change the tab order.
    [
      '<dialog open>d</dialog><form action="/x"><button>b</button><select><option>o</option></select><label for="x">l</label><fieldset><legend>g</legend></fieldset></form>',
      'dbolg',
    ],
    ['<div><font color="red">f</font><center>c</center><marquee>m</marquee><map name="x"><area href="/y"></map></div>', '<div>fcm</div>'],
    [
      '<p class="positive primary language-js" id="app" name="main" role="alert" aria-hidden="true" data-x="1" tabindex="5" dir="rtl">p</p>',
      '<p class="positive language-js" dir="rtl" id="user-content-app">p</p>',
    ],
    ['<p class="button" autofocus contenteditable accesskey="x" popover is="x-y" slot="s">q</p>', '<p>q</p>'],
    [
      '<div><input type="text" value="t"><input type="checkbox" checked><input type="checkbox"></div>',
      '<div><input type="checkbox" checked="" disabled="" aria-label="done"><input type="checkbox" disabled="" aria-label="not done"></div>',
    ],
    ['<div><video src="/uploads/a.mp4" controls autoplay></video></div>', '<div><video src="/uploads/a.mp4" controls=""></video></div>'],
    // Link targets, and how links open.
    [
      '[t](tel:1) [u](ftp://x.org/a) [m](mailto:a@example.org)',
      '<p><a>t</a> <a>u</a> <a href="mailto:a@example.org" target="_blank" rel="noopener noreferrer nofollow">m</a></p>',
    ],
    [
      '[w](https://example.org/) [r](/uploads/a.html) [o](/codelabs)',
      '<p><a href="https://example.org/" target="_blank" rel="noopener noreferrer nofollow">w</a> <a href="/uploads/a.html" target="_blank" rel="noopener noreferrer nofollow">r</a> <a href="/codelabs">o</a></p>',
    ],
    [
      '<div><a target="_top" href="/x">t</a><img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="></div>',
      '<div><a data-dead="/x">t</a><img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" loading="lazy" decoding="async" alt=""></div>',
    ],
    // Elements wider than the page can be scrolled with the keyboard.
    ['| a |\n|---|', '<table tabindex="0"><thead><tr><th>a</th></tr></thead></table>'],
    // The page outline has no gaps.
    ['# A\n\n### B\n\n###### C', '<h3 id="user-content-a">A</h3><h4 id="user-content-b">B</h4><h5 id="user-content-c">C</h5>'],
  ]
  const lab = await lead.codelab({ steps: written.map(([text], i) => ({ title: `S${i}`, content_markdown: text })) })
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  guest.expect(/404/, /ERR_/)
  const { page } = guest
  const shown = []
  for (const i of written.keys()) {
    await page.goto(`/codelabs/${lab.id}?step=${i + 1}`)
    await page.getByRole('heading', { level: 2, name: `S${i}`, exact: true }).waitFor()
    const text = page.locator('main .markdown')
    await until('the text to be there', async () => (await text.innerHTML()) !== '')
    shown.push(await text.evaluate((e) => e.innerHTML.replaceAll('<!---->', '').replace(/\n/g, '').trim()))
  }
  assert.deepEqual(
    shown,
    written.map(([, left]) => left),
  )
})

long('no text stops the page', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({
    steps: [
      {
        title: 'Links',
        content_markdown:
          'Open http://localhost:PORT/ or [your project](https://<your-project>.web.app), then <a href="https://[::bad/">read</a> on.\n\n- [x] made\n- [ ] sent',
      },
      { title: 'Marks', content_markdown: '*a_'.repeat(16_000) },
      { title: 'Quotes', content_markdown: '>'.repeat(4000) + ' deep' },
    ],
  })
  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann })
  await page.goto(`/codelabs/${lab.id}`)
  const text = page.locator('.markdown')
  await text.getByText('Open http://localhost:PORT/ or').waitFor()
  await text.getByRole('checkbox', { name: 'made' }).waitFor()
  await text.getByRole('checkbox', { name: 'sent' }).waitFor()
  for (const [name, shown] of [
    ['Marks', '*a_*a_*a_'],
    ['Quotes', '>>>>>>>>'],
  ]) {
    await page.getByRole('navigation', { name: 'Steps' }).getByRole('link', { name }).click()
    await text.getByText(shown).waitFor()
  }

  // An attendee's stored text does not block a facilitator's page, and loads nothing automatically.
  const question = { codelab_id: lab.id, step_number: 1, model: 'm' }
  await ann.post('/ai/conversations', { ...question, question: 'Which marks?', answer: '***a'.repeat(12_000) })
  await ann.post('/ai/conversations', { ...question, question: 'Which picture?', answer: 'Look: ![a graph](https://pictures.example.org/a.png) **here**' })
  const boss = await visitor({ as: lead })
  boss.expect(/ERR_/)
  const asked = []
  await boss.page.route('https://pictures.example.org/**', (route) => (asked.push(route.request().url()), route.abort()))
  await boss.page.goto(`/admin/${lab.id}/results`)
  await boss.page.getByRole('tab', { name: /AI/ }).click()
  await boss.page.getByText('Which marks?').click()
  await boss.page.getByText('***a***a***a').waitFor()
  await boss.page.getByText('Which picture?').click()
  await boss.page.locator('strong', { hasText: 'here' }).waitFor()
  await still(boss.page)
  assert.deepEqual(asked, [])
  await boss.page.getByRole('button', { name: 'Show the picture from pictures.example.org: a graph' }).click()
  await until('the request for the picture', () => asked.length === 1)
})
