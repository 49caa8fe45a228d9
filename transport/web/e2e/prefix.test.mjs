// The server below a path of its host, and its pages in another page's frame.
import assert from 'node:assert/strict'
import { after } from 'node:test'
import { Proxy } from './harness/proxy.mjs'
import { stage, until } from './harness/stage.mjs'

const proxies = [await new Proxy('/lab', { strips: true }).start(), await new Proxy('/lab', { strips: false }).start()]
after(() => proxies.forEach((proxy) => proxy.stop()))

const { test } = stage()

const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

for (const [i, proxy] of proxies.entries()) {
  test(`a workshop runs below a path, behind a proxy that ${i === 0 ? 'strips' : 'keeps'} it`, async ({ server, visitor, facilitator }) => {
    await server.stop()
    server.configure({ ATELIER_SERVER_PUBLIC_URL: proxy.url })
    await server.start()
    proxy.leadTo(server.url)
    const owner = await facilitator()
    const form = new FormData()
    form.append('file', new Blob([picture], { type: 'image/png' }), 'dot.png')
    const { url } = await owner.post('/upload/image', form)
    const lab = await owner.codelab({ title: 'Below', steps: [`# One\n\n![A dot](${url})\n\n[Next door](/codelabs/other)`, '# Two\n\nText.'] })

    const lead = await visitor({ baseURL: new URL(proxy.url).origin, serviceWorkers: 'allow' })
    lead.expect(/401/)
    await lead.page.goto(`${proxy.url}/admin/${lab.id}`)
    await lead.page.waitForURL(`${proxy.url}/login?**`)
    await lead.page.getByLabel('Admin id').fill(server.adminId)
    await lead.page.getByLabel('Password').fill(server.adminPw)
    await lead.page.getByRole('button', { name: 'Sign in' }).click()
    await lead.page.waitForURL(`${proxy.url}/admin/${lab.id}`)
    await lead.page.getByRole('region', { name: 'Help queue' }).waitFor()

    const ann = await visitor({ baseURL: new URL(proxy.url).origin, serviceWorkers: 'allow' })
    ann.expect(/401|403/)
    const code = (await owner.get(`/codelabs/${lab.id}`))[0].join_code
    await ann.page.goto(`${proxy.url}/j/${code}`)
    await ann.page.getByLabel('Your name').fill('Ann')
    await ann.page.getByRole('button', { name: 'Join', exact: true }).click()
    await ann.page.waitForURL(`${proxy.url}/codelabs/${lab.id}?**`)
    const shown = ann.page.getByRole('img', { name: 'A dot' })
    await shown.waitFor()
    await until('the picture to load', () => shown.evaluate((img) => img.naturalWidth === 1))
    assert.equal(await ann.page.getByRole('link', { name: 'Next door' }).getAttribute('href'), '/lab/codelabs/other')
    await ann.page.keyboard.press('j')
    await ann.page.getByRole('heading', { name: 'Two' }).waitFor()
    await ann.page.waitForURL(`${proxy.url}/codelabs/${lab.id}?step=2`)
    await ann.page.goBack()
    await ann.page.getByRole('heading', { name: 'One' }).waitFor()
    await ann.page.reload()
    await ann.page.getByRole('heading', { name: 'One' }).waitFor()
    await until('Ann to be registered', async () => (await owner.get(`/codelabs/${lab.id}/attendees`)).length === 1)
    const workers = await ann.page.evaluate(async () => (await navigator.serviceWorker.ready).scope)
    assert.equal(workers, `${proxy.url}/`)
    await lead.page.getByRole('link', { name: 'Results' }).click()
    await lead.page.waitForURL(`${proxy.url}/admin/${lab.id}/results`)
    assert.deepEqual(
      proxy.beside.filter((path) => path !== '/favicon.ico'),
      [],
      'the browser made requests outside the path',
    )
  })
}

test(
  'an attendee can take part in a frame of another site, but admin pages do not open there',
  async ({ server, visitor, facilitator }) => {
    const outside = 'https://learn.example.org'
    await server.stop()
    server.configure({ ATELIER_WEB_FRAME_ANCESTORS: outside })
    await server.start()
    const owner = await facilitator()
    const lab = await owner.codelab({ title: 'Framed', is_public: true })
    const ann = await visitor({ as: owner })
    ann.expect(/401|403/, /frame-ancestors|X-Frame-Options/i)
    let shown = `/codelabs/${lab.id}`
    await ann.context.route(`${outside}/**`, (route) =>
      route.fulfill({
        contentType: 'text/html',
        body: `<!doctype html><title>Course</title><iframe width="1200" height="700" src="${server.url}${shown}"></iframe>`,
      }),
    )
    await ann.page.goto(outside)
    const frame = ann.page.frameLocator('iframe')
    await frame.getByLabel('Your name').fill('Ann')
    await frame.getByRole('button', { name: 'Join', exact: true }).click()
    await frame.getByRole('heading', { name: 'One' }).first().waitFor()
    await frame
      .getByRole('main')
      .getByRole('link', { name: /Two/ })
      .or(frame.getByRole('main').getByRole('button', { name: /Two/ }))
      .first()
      .click()
    await until('Ann to be on step 2', async () => (await owner.get(`/codelabs/${lab.id}/attendees`))[0]?.current_step === 2)
    await ann.page.reload()
    await frame.getByRole('heading', { name: 'Two' }).first().waitFor()
    assert.equal((await owner.get(`/codelabs/${lab.id}/attendees`)).length, 1)
    // This browser also has the owner's session, but pages for facilitators are refused in the
    // frame.
    shown = '/admin'
    await ann.page.goto(outside)
    await until(
      'the admin page to be refused',
      async () =>
        !(
          await ann.page
            .frames()[1]
            ?.content()
            .catch(() => '')
        )?.includes('id="app"'),
    )
  },
  { chromium: 'over HTTP Firefox stores no cookies of such a frame' },
)
