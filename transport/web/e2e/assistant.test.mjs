// Questions to the AI: the answer is streamed, can be stopped, and none of its content is executed.
import assert from 'node:assert/strict'
import { createCipheriv, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after } from 'node:test'
import { stage, until } from './harness/stage.mjs'

/** An upstream that sends the test's answer in pieces. */
const upstream = createServer((request, response) => {
  let body = ''
  request.on('data', (d) => (body += d))
  request.on('end', () => {
    asked.push(JSON.parse(body))
    response.writeHead(200, { 'Content-Type': 'text/event-stream' })
    current = response
    response.on('close', () => (gone = !response.writableEnded))
    arrived?.()
  })
})
const asked = []
let current
let gone = false
let arrived
const piece = (text) => current.write(`data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [{ text }] } }], modelVersion: 'm' })}\n\n`)
after(() => {
  upstream.closeAllConnections()
  upstream.close()
})

const { test } = stage({
  env: async () => {
    upstream.listen(0, '127.0.0.1')
    await once(upstream, 'listening')
    return { ATELIER_AI_BASE_URL: `http://127.0.0.1:${upstream.address().port}` }
  },
})

/** A key in the form sent to the server: only its ciphertext. */
function encrypted(key, password) {
  const [salt, iv] = [randomBytes(16), randomBytes(16)]
  const keys = pbkdf2Sync(password, salt, 100_000, 64, 'sha256')
  const cipher = createCipheriv('aes-256-cbc', keys.subarray(0, 32), iv)
  const text = Buffer.concat([salt, iv, cipher.update(key), cipher.final()])
  return 'v1:' + Buffer.concat([text, createHmac('sha256', keys.subarray(32)).update(text).digest()]).toString('base64')
}

test('an attendee asks the AI about the text, and stops an answer', async ({ server, facilitator, person, visitor }) => {
  const lead = await facilitator()
  await lead.post('/admin/settings', { ai_api_key: encrypted('a-key', server.adminPw) })
  const lab = await lead.codelab({ steps: ['# One\n\nThe handler answers.', '# Two\n\nMore.'] })
  const guest = await visitor({ as: await person(lab, 'Attendee 1') })
  guest.expect(/404|ERR_/)
  const { page } = guest
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('tab', { name: 'Ask' }).click()
  const field = page.getByLabel('Question about this step')
  await field.fill('Why does it answer?')
  let came = new Promise((done) => (arrived = done))
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await came
  assert.match(JSON.stringify(asked[0]), /The handler answers/)
  piece('Because **it')
  await page.getByText('Because').waitFor()
  piece(' must**. <img src=x onerror="window.owned=1"> <script>window.owned=1</script> [press](javascript:window.owned=1)')
  await page.locator('.ask strong', { hasText: 'it must' }).waitFor()
  current.end()
  await until('the conversation to be stored', async () =>
    (await lead.get(`/codelabs/${lab.id}/ai/conversations`)).some((c) => c.question.includes('Why does it') && c.answer.startsWith('Because')),
  )
  assert.equal(await page.evaluate(() => window.owned), undefined)
  assert.equal(await page.locator('.ask a[href^="javascript"]').count(), 0)

  // After Stop is pressed, the received text stays, and the upstream connection is closed.
  await field.fill('And then?')
  came = new Promise((done) => (arrived = done))
  gone = false
  await page.getByRole('button', { name: 'Ask', exact: true }).click()
  await came
  piece('It goes on and')
  await page.getByText('It goes on and').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Stopped.').waitFor()
  await until('the upstream connection to be closed', () => gone)
  assert.ok(await page.getByText('It goes on and').isVisible())
})
