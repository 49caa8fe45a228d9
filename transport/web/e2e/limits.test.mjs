// A page that receives 429 shows a calm message, waits, and continues automatically.
import assert from 'node:assert/strict'
import { stage, until } from './harness/stage.mjs'

const { long } = stage({
  env: { ATELIER_LIMITS_REGISTRATIONS_PER_SECOND_PER_ADDRESS: '1', ATELIER_LIMITS_REGISTRATION_BURST_PER_ADDRESS: '1' },
})

long('when a whole class joins at once, everybody gets in, although some have to wait', async ({ facilitator, visitor }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const people = await Promise.all(Array.from({ length: 3 }, () => visitor()))
  let told = 0
  // The pages send their requests at the same moment, independent of their loading times.
  const asking = new Set()
  const together = async (route) => {
    asking.add(route)
    await until('all requests', () => asking.size >= people.length)
    await route.continue()
  }
  await Promise.all(
    people.map(async (guest, i) => {
      guest.expect(/429/)
      const { page } = guest
      page.on('response', (answer) => answer.status() === 429 && told++)
      await page.route('**/register', together, { times: 1 })
      await page.goto(`/j/${lab.join_code}`)
      await page.getByLabel('Your name').fill(`Attendee ${i + 1}`)
      await page.getByRole('button', { name: 'Join', exact: true }).click()
      await page.getByRole('heading', { name: 'One' }).waitFor()
    }),
  )
  assert.ok(told > 0, 'no request got status 429')
  assert.equal((await lead.get(`/codelabs/${lab.id}/attendees`)).length, 3)
})

long('a person who has to wait sees a notice until they have joined', async ({ facilitator, visitor }) => {
  const lead = await facilitator()
  const lab = await lead.codelab()
  const guest = await visitor()
  guest.expect(/429/)
  const { page } = guest
  let first = true
  await page.route('**/register', (route) => {
    if (!first) return route.continue()
    first = false
    return route.fulfill({ status: 429, headers: { 'Retry-After': '8' }, json: { error: 'too many' } })
  })
  await page.goto(`/j/${lab.join_code}`)
  await page.getByLabel('Your name').fill('Attendee 1')
  await page.getByRole('button', { name: 'Join', exact: true }).click()
  const notice = page.locator('.toast', { hasText: 'Many people at once' })
  await notice.waitFor()
  // The countdown is announced once, not every second.
  await page.locator('[aria-live=polite]', { hasText: 'Many people at once' }).waitFor()
  await page.getByRole('heading', { name: 'One' }).waitFor()
  assert.equal(await notice.count(), 0)
})
