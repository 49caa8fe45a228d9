// What facilitators do beside the live view: settings, results, the projector,
// tokenization, the audit log, and screens that are shown.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { axeSource, stage, until } from './harness/stage.mjs'

// A language model that answers everything with the same words.
const model = createServer((request, answer) => {
  request.resume()
  answer.writeHead(200, { 'Content-Type': 'text/event-stream' })
  const part = { candidates: [{ content: { role: 'model', parts: [{ text: 'Because.' }] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 70, candidatesTokenCount: 30, totalTokenCount: 100 } }
  answer.end(`data: ${JSON.stringify(part)}\n\n`)
})
model.listen(0, '127.0.0.1')
await once(model, 'listening')
model.unref()

const { test } = stage({
  env: { ATELIER_AI_BASE_URL: `http://127.0.0.1:${model.address().port}` },
  args: ['--use-fake-ui-for-media-stream'],
})

/** Throws when axe finds something serious, in light and in dark. */
async function accessible(page) {
  for (const colorScheme of ['light', 'dark']) {
    await page.emulateMedia({ colorScheme })
    await page.evaluate(axeSource())
    const found = await page.evaluate(async () => (await axe.run()).violations.filter((v) => v.impact === 'serious' || v.impact === 'critical'))
    assert.deepEqual(found.map((v) => `${colorScheme} ${v.id}: ${v.nodes.map((n) => n.html).join(' ')}`), [])
  }
}

test('the AI key is set, used and removed, and a token is made and revoked', async ({ server, visitor, facilitator }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  const guest = await visitor({ as: lead })
  const { page } = guest
  await page.addInitScript(() => {
    const real = window.fetch
    window.sent = ''
    window.fetch = async (asked) => {
      if (asked.method === 'POST') window.sent += await asked.clone().text()
      return real(asked)
    }
  })
  await page.goto('/admin/settings')
  await page.getByText('not set', { exact: true }).waitFor()

  // A wrong password is said so, and the key stays in its field.
  const secret = 'key-of-the-model'
  await page.getByLabel('AI key', { exact: true }).fill(secret)
  await page.getByLabel('Admin password').fill('wrong')
  guest.expect(/400/)
  await page.getByRole('button', { name: 'Set the key' }).click()
  await page.getByText('this is not the admin password').waitFor()
  assert.equal(await page.getByLabel('AI key', { exact: true }).inputValue(), secret)
  assert.equal(await page.getByLabel('Admin password').inputValue(), '')
  await page.getByLabel('Admin password').fill(server.adminPw)
  await page.getByRole('button', { name: 'Set the key' }).click()
  await page.getByText('set and ready').waitFor()
  const sent = await page.evaluate(() => window.sent)
  assert.match(sent, /"ai_api_key":"v1:/)
  assert.ok(!sent.includes(secret) && !sent.includes(server.adminPw))

  // The server can ask with it, and counts.
  await lead.post('/ai/stream', { prompt: 'Why?', codelab_id: lab.id })
  await page.reload()
  const models = page.getByRole('region', { name: 'By model' })
  await models.getByRole('cell', { name: '100' }).waitFor()
  await page.getByRole('region', { name: 'By codelab' }).getByRole('link', { name: 'A small service' }).waitFor()
  await accessible(page)

  await page.getByRole('button', { name: 'Remove the key' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove the key' }).click()
  await page.getByText('not set', { exact: true }).waitFor()

  // A token is seen once.
  await page.getByLabel('What is it for?').fill('nightly export')
  await page.getByRole('button', { name: 'Make a token' }).click()
  const token = await page.getByRole('group', { name: 'New token: nightly export' }).getByText(/^atl_/).textContent()
  const asked = () => fetch(`${server.url}/api/admin/tokens`, { headers: { Authorization: `Bearer ${token}` } })
  assert.equal((await asked()).status, 200)
  await page.getByRole('button', { name: 'I have kept it' }).click()
  assert.equal(await page.getByText(/^atl_/).count(), 0)
  await page.getByRole('button', { name: 'Revoke nightly export' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await page.getByText('No tokens yet').waitFor()
  assert.equal((await asked()).status, 401)

  // This device.
  await page.getByLabel('Appearance', { exact: true }).selectOption('dark')
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), 'dark')
  await page.getByLabel('Language', { exact: true }).selectOption('de')
  await page.getByRole('heading', { level: 1, name: 'Einstellungen dieses Servers' }).waitFor()
})
