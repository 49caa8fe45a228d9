// The app without a network: after a reload, a text that was read here is available, but no data of
// other people. Another build of the app replaces the open one.
import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import { once } from 'node:events'
import { Network } from './harness/network.mjs'
import { accessible, offline, stage, still, until } from './harness/stage.mjs'

/** A host name other than the machine's own, so that its pages are not a secure context. */
const elsewhere = 'workshop.test'
const { test, long } = stage({ hosts: [elsewhere] })

const away = [offline, /NetworkError when attempting|Unable to preload CSS/, /ERR_(INTERNET_DISCONNECTED|FAILED|ABORTED)/, /50[0-9]/]

/** A picture of one pixel. */
const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64')

/**
 * All data that this browser stores for the site, as text. Of cached files other than HTML and
 * JSON, only the paths are included.
 */
const everything = (page) =>
  page.evaluate(async () => {
    const out = [JSON.stringify(localStorage), JSON.stringify(sessionStorage)]
    for (const name of await caches.keys())
      for (const r of await (await caches.open(name)).keys()) {
        const answer = await (await caches.open(name)).match(r, { ignoreVary: true })
        out.push(`${name} ${new URL(r.url).pathname} ${/html|json/.test(answer.headers.get('content-type')) ? await answer.text() : ''}`)
      }
    for (const { name } of await indexedDB.databases())
      await new Promise((done) => {
        const open = indexedDB.open(name)
        open.onsuccess = () => {
          const stores = [...open.result.objectStoreNames]
          if (stores.length === 0) return done()
          const t = open.result.transaction(stores)
          for (const s of stores) {
            const all = t.objectStore(s).getAll()
            all.onsuccess = () => out.push(JSON.stringify(all.result))
          }
          t.oncomplete = () => done(open.result.close())
        }
      })
    return out.join('\n')
  })

/** Waits until the page can be reloaded without a network. */
async function ready(page, codelab) {
  await page.evaluate(() => navigator.serviceWorker.ready)
  await until('the worker to control the page', () => page.evaluate(() => navigator.serviceWorker.controller !== null))
  await until('the text to be stored', async () => (await everything(page)).includes(`"id":"${codelab.id}"`))
  // The stored files also include the texts of the page's language.
  await until('all files to be stored', async () => /\/assets\/first-\w\w-.*[^]*\/assets\/more-\w\w-/.test(await everything(page)))
}

test('a visited text is available offline, with its pictures, and messages are sent later', async (scene) => {
  const { server, facilitator, person, visitor } = scene
  const network = await Network.before(server)
  const lead = await facilitator()
  const lab = await lead.codelab({ questions: 'open', steps: ['# One\n\nFirst.', '# Two\n\nSecond.'] })
  const form = new FormData()
  form.append('file', new Blob([png], { type: 'image/png' }), 'dot.png')
  const { url } = await lead.post('/upload/image', form)
  await lead.put(`/codelabs/${lab.id}/steps`, {
    steps: [
      { title: 'One', content_markdown: `First.\n\n![a dot](${url})\n\n\`\`\`go\nfunc main() {}\n\`\`\`` },
      { title: 'Two', content_markdown: 'Second.\n\n$$x^2$$' },
    ],
  })
  const ann = await person(lab, 'Ann of the workshop')
  const ben = await person(lab, 'Ben who is somebody else')
  await ben.say(lab, { type: 'chat', message: 'words of somebody else' })
  const guest = await visitor({ as: ann, baseURL: network.url, serviceWorkers: 'allow' })
  guest.expect(...away, /40[13]/) // signed out
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('log').getByText('words of somebody else').waitFor()
  await ready(page, lab)

  network.cut()
  await page.reload()
  await page.getByText('First.').waitFor()
  await page.getByText('connection lost', { exact: false }).first().waitFor()
  await until('the picture to load', () => page.getByAltText('a dot').evaluate((i) => i.complete && i.naturalWidth === 1))
  await page.getByRole('button', { name: /Two/ }).last().click()
  await page.getByText('Second.').waitFor()
  const field = page.getByLabel('Write to everybody')
  await field.fill('written without a network')
  await field.press('Enter')
  await page.getByText('waiting to be sent').waitFor()
  await accessible(page)

  // A panel that was not opened before is available.
  await page.getByRole('tab', { name: 'Q&A' }).click()
  await page.getByLabel('Ask a question').waitFor()
  await page.getByRole('tab', { name: 'Chat' }).click()

  // The page with all steps is available, too.
  const whole = await guest.context.newPage()
  await whole.goto(`/codelabs/${lab.id}/all`)
  await whole.getByText('First.').waitFor()
  await still(whole) // a page that is left while it loads its parts reports errors
  await whole.close()

  const kept = await everything(page)
  assert.ok(!kept.includes('somebody else'), 'data of another person is stored')
  assert.ok(kept.includes('Second.'))

  network.mend()
  await until('the message to be sent', async () => (await lead.get(`/codelabs/${lab.id}/chat`)).some((m) => m.message === 'written without a network'))
  await page.getByRole('log').getByText('words of somebody else').waitFor()

  // After signing out, neither the text nor data of the person is stored. Firefox aborts requests
  // of a page that is being closed, and reports them as errors.
  guest.check()
  guest.expect(/A ServiceWorker intercepted the request/)
  page.on('dialog', (d) => void d.accept())
  await page.getByRole('button', { name: 'Appearance and language' }).click()
  await page.getByRole('menuitem', { name: /erase my data/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out on this device' }).click()
  await page.waitForURL((u) => u.pathname === '/')
  const left = await everything(page)
  for (const text of ['Second.', 'Ann of the workshop', lab.id, '/uploads/']) assert.ok(!left.includes(text), `"${text}" is still stored`)
  await network.remove()
})

long('a removed attendee no longer has the text on the device', async ({ facilitator, person, visitor }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: ['# One\n\nFirst.'] })
  const ann = await person(lab, 'Ann of the workshop')
  const guest = await visitor({ as: ann, serviceWorkers: 'allow' })
  guest.expect(...away, /40[134]/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await ready(page, lab)
  await page.goto('about:blank')
  await lead.delete(`/codelabs/${lab.id}/attendees/${ann.id}`)
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByLabel('Your name').waitFor()
  await until('the text to be deleted', async () => !(await everything(page)).includes('First.'))
})

long('the next person on a device has no data of the previous one', async ({ server, facilitator, person, visitor }) => {
  const network = await Network.before(server)
  const lead = await facilitator()
  const [one, two] = [await lead.codelab({ steps: ['# One\n\nFirst.'] }), await lead.codelab({ steps: ['# Two\n\nSecond.'] })]
  const ann = await person(one, 'Ann of the workshop')
  const guest = await visitor({ as: ann, baseURL: network.url, serviceWorkers: 'allow' })
  guest.expect(...away, /40[134]/)
  const { page, context } = guest
  await page.goto(`/codelabs/${one.id}`)
  await ready(page, one)
  await context.clearCookies()
  await page.goto(`/codelabs/${two.id}`)
  await page.getByLabel('Your name').fill('Ben')
  await page.getByRole('button', { name: 'Join' }).click()
  await page.getByText('Second.').waitFor()
  const kept = await everything(page)
  for (const text of ['First.', 'Ann of the workshop']) assert.ok(!kept.includes(text), `"${text}" is still stored`)
  network.cut()
  await page.goto(`/codelabs/${one.id}`)
  await page.getByRole('button', { name: 'Try again' }).waitFor()
  assert.equal(await page.getByText('First.').count(), 0)
  await network.remove()
})

long('a new build replaces the open one once nothing is typed', async ({ server, visitor }) => {
  const proxy = await Rebuilt.before(server)
  const guest = await visitor({ baseURL: proxy.url, serviceWorkers: 'allow' })
  guest.expect(...away)
  const { page } = guest
  await page.goto('/')
  await page.evaluate(() => navigator.serviceWorker.ready)
  await until('the worker to control the page', () => page.evaluate(() => navigator.serviceWorker.controller !== null))
  await page.evaluate(() => (globalThis.still = true))
  const code = page.getByLabel(/code/i).first()
  await code.fill('ABC')

  proxy.build = 'another00000'
  await page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).update())
  await until('the new build to be stored', async () => {
    const names = await page.evaluate(() => caches.keys())
    return names.includes('atelier-app-another00000') && names.length === 1
  })
  // Typed text is not lost: the new build's worker takes over the page without a reload.
  await until('the new worker to be active', () => page.evaluate(async () => (await navigator.serviceWorker.getRegistration()).waiting === null))
  assert.ok(await page.evaluate(() => globalThis.still))
  assert.equal(await code.inputValue(), 'ABC')
  await code.fill('')
  await code.blur()
  await page.waitForFunction(() => !globalThis.still)
  await page.getByRole('heading').first().waitFor()
  proxy.remove()
})

long('a page that cannot be stored shows a notice', async ({ server, facilitator, person, visitor }) => {
  const network = await Network.before(server)
  const lead = await facilitator()
  const lab = await lead.codelab()
  const ann = await person(lab, 'Ann')
  const guest = await visitor({ baseURL: network.url.replace('127.0.0.1', elsewhere), viewport: { width: 390, height: 800 } })
  guest.expect(...away, /./)
  const { page, context } = guest
  await context.addCookies(ann.browserCookies().map((c) => ({ ...c, domain: elsewhere, url: undefined, path: '/' })))
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('heading', { name: /./ }).first().waitFor()
  assert.equal(await page.evaluate(() => isSecureContext), false)
  network.cut()
  const says = page.getByText('Keep this page open').filter({ visible: true })
  await says.first().waitFor()
  assert.equal(await says.count(), 1)
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/keep-open.png` })
  await network.remove()
})

/** A proxy before the server, which can give the app's service worker the id of another build. */
class Rebuilt {
  build = ''

  static async before(server) {
    const it = new Rebuilt()
    it.server = createServer((near, answer) => {
      const { 'if-none-match': _, ...headers } = { ...near.headers, 'accept-encoding': 'identity' }
      const far = request(server.url + near.url, { method: near.method, headers }, (from) => {
        if (near.url !== '/sw.js' || it.build === '') {
          answer.writeHead(from.statusCode, from.headers)
          from.pipe(answer)
          return
        }
        let code = ''
        from.setEncoding('utf8')
        from.on('data', (d) => (code += d))
        from.on('end', () => {
          answer.writeHead(200, { 'content-type': from.headers['content-type'] })
          answer.end(code.replace(/"id":"[0-9a-f]+"/, `"id":"${it.build}"`))
        })
      })
      far.on('error', () => answer.destroy())
      near.pipe(far)
    })
    it.server.listen(0, '127.0.0.1')
    await once(it.server, 'listening')
    it.url = `http://127.0.0.1:${it.server.address().port}`
    return it
  }

  remove() {
    this.server.closeAllConnections()
    this.server.close()
  }
}
