// How the app is served: the headers and encodings, and that a browser uses them
// correctly.
import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { ask } from './harness/ask.mjs'
import { stage, still } from './harness/stage.mjs'

const { test } = stage()

/** The assets that a page names. */
const assetsOf = (html) => [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path)

test('the page contains the built app', async ({ server }) => {
  const { text } = await ask(server, '/')
  assert.ok(assetsOf(text).length > 0, 'the page has no assets: was bin/atelier built before the app?')
})

test('pages and assets have the security headers', async ({ server }) => {
  const [asset] = assetsOf((await ask(server, '/')).text)
  for (const path of ['/', '/login', '/nothing', '/favicon.svg', asset]) {
    const { headers } = await ask(server, path)
    const policy = headers['content-security-policy']
    for (const part of ["default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"]) {
      assert.ok(policy?.includes(part), `the policy of ${path} is ${policy}, want ${part}`)
    }
    assert.doesNotMatch(policy, /unsafe/, path)
    assert.equal(headers['x-content-type-options'], 'nosniff', path)
    assert.equal(headers['x-frame-options'], 'DENY', path)
    assert.equal(headers['referrer-policy'], 'same-origin', path)
    assert.equal(headers['cross-origin-opener-policy'], 'same-origin', path)
    assert.equal(headers['strict-transport-security'], undefined, path)
  }
})

test('unchanged files are not sent again', async ({ server }) => {
  const html = await ask(server, '/')
  assert.equal(html.headers['cache-control'], 'no-cache')
  for (const path of ['/', '/login', '/favicon.svg', ...assetsOf(html.text)]) {
    const first = await ask(server, path)
    assert.equal(first.status, 200, path)
    const again = await ask(server, path, { headers: { 'If-None-Match': first.headers.etag } })
    assert.equal(again.status, 304, path)
    assert.equal(again.body.length, 0, path)
    const head = await ask(server, path, { method: 'HEAD' })
    assert.equal(head.headers['content-length'], String(first.body.length), path)
    assert.equal(head.body.length, 0, path)
  }
})

test('assets have a hash in their names, are cached for ever, and are compressed', async ({ server }) => {
  const paths = assetsOf((await ask(server, '/')).text)
  let compressed = 0
  for (const path of paths) {
    assert.match(path, /-[\w-]{8,}\.\w+$/)
    const plain = await ask(server, path)
    assert.equal(plain.headers['cache-control'], 'public, max-age=31536000, immutable', path)
    if (plain.body.length < 1024) continue
    const tags = new Set([plain.headers.etag])
    for (const [coding, decode] of [
      ['br', brotliDecompressSync],
      ['gzip', gunzipSync],
    ]) {
      const packed = await ask(server, path, { headers: { 'Accept-Encoding': coding } })
      assert.equal(packed.headers['content-encoding'], coding, path)
      assert.equal(packed.headers.vary, 'Accept-Encoding', path)
      assert.ok(packed.body.length < plain.body.length, path)
      assert.ok(decode(packed.body).equals(plain.body), path)
      tags.add(packed.headers.etag)
    }
    assert.equal(tags.size, 3, path)
    compressed++
  }
  assert.ok(compressed > 0, 'no asset is compressed')
})

test('an unknown address gets a 404 with the app; an unknown operation or asset gets one without it', async ({ server }) => {
  for (const path of ['/nothing', '/admin/x//', '/codelabs/%2e%2e', '/..%2f..%2fetc%2fpasswd']) {
    const { status, text, headers } = await ask(server, path)
    assert.equal(status, 404, path)
    assert.match(headers['content-type'], /^text\/html/, path)
    assert.ok(assetsOf(text).length > 0, path)
  }
  const operation = await ask(server, '/api/nothing')
  assert.equal(operation.status, 404)
  assert.ok(JSON.parse(operation.text).error)
  const gone = await ask(server, '/assets/gone-12345678.js')
  assert.equal(gone.status, 404)
  assert.match(gone.headers['content-type'], /^text\/plain/)
})

test(
  'a certificate is verified without JavaScript',
  async ({ server, visitor, facilitator, person }) => {
    const lead = await facilitator()
    const lab = await lead.codelab({ title: 'Ropes & <knots>', author: 'A', steps: ['# One\n\nText.'] })
    const ann = await person(lab, 'Attendee <7>')
    const reader = await visitor({ javaScriptEnabled: false })
    // The browser's console reports a page with this status as an error.
    reader.expect(/status of 404/)
    const { page } = reader
    const before = await page.goto(`/verify/${ann.id}`)
    assert.equal(before.status(), 404)
    await page.getByRole('heading', { name: 'Not a valid certificate' }).waitFor()
    await ann.post(`/codelabs/${lab.id}/complete`)
    const response = await page.goto(`/verify/${ann.id}`)
    assert.equal(response.status(), 200)
    await page.getByRole('heading', { name: 'Valid certificate', exact: true }).waitFor()
    for (const text of ['Attendee <7>', 'Ropes & <knots>']) await page.getByText(text, { exact: true }).waitFor()
    assert.match(await page.title(), /^Valid certificate/)
    assert.equal((await ask(server, `/verify/${ann.id.replace(/.$/, 'x')}`)).status, 404)
  },
  { chromium: 'JavaScript cannot be disabled in Firefox over WebDriver BiDi' },
)

for (const path of ['/', '/login']) {
  test(`${path} opens without an error`, async ({ visitor }) => {
    const { page } = await visitor()
    const response = await page.goto(path)
    assert.equal(response.status(), 200)
    // The app has rendered the page.
    await page.waitForFunction(() => document.querySelector('#app')?.childElementCount > 0)
    await still(page)
    assert.notEqual(await page.title(), '')
  })
}
