// The people who lead: invitations, accounts, assistants and helpers for a day.
import assert from 'node:assert/strict'
import { findings, stage, turn, until } from './harness/stage.mjs'

const { test } = stage()
const password = 'correct horse battery'

/** Throws when axe finds something serious, in light and in dark. */
async function accessible(page) {
  for (const colorScheme of ['light', 'dark']) {
    await turn(page, colorScheme)
    assert.deepEqual(await findings(page), [], colorScheme)
  }
}

/** The link that the page shows once. */
async function shownLink(page) {
  const link = await page.getByText(/\/invite#[\w-]{43}$/).textContent()
  await page.getByRole('button', { name: 'I have kept it' }).click()
  return link
}

test('an assistant is invited, helps, changes nothing, and is out when they are disabled', async ({ visitor, facilitator, person }) => {
  const owner = await facilitator()
  const lab = await owner.codelab({ title: 'A small service' })
  await owner.codelab({ title: 'Another one', is_public: false })
  const lin = await person(lab, 'Lin')
  await lin.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1, message: 'how?' })

  const office = await visitor({ as: owner })
  await office.page.goto('/admin/people')
  await office.page.getByText('Nobody yet').waitFor()
  await office.page.getByRole('button', { name: 'Invite somebody' }).click()
  await office.page.getByRole('button', { name: 'Make the link' }).click()
  await office.page.getByText('A name is needed.').waitFor()
  await office.page.getByLabel('Name', { exact: true }).fill('Asa')
  await office.page.getByLabel('Login').fill('asa@example.org')
  await office.page.getByLabel('A small service').check()
  await accessible(office.page)
  await office.page.getByRole('button', { name: 'Make the link' }).click()
  const link = await shownLink(office.page)
  await office.page.getByText('invited').waitFor()
  await accessible(office.page)

  const guest = await visitor()
  const { page } = guest
  await page.goto(link)
  await page.getByRole('heading', { name: 'Welcome, Asa' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the token stays in the address')
  await page.getByLabel('Choose a password').fill('short')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('It must have at least 12 characters.').waitFor()
  await page.getByLabel('Choose a password').fill(password)
  await page.getByLabel('The same again').fill(`${password}!`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('This is not the same.').waitFor()
  await accessible(page)
  await page.getByLabel('The same again').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()

  // In the live view of their codelab, without what changes it.
  await page.waitForURL(`**/admin/${lab.id}`)
  const help = page.getByRole('region', { name: 'Help queue' })
  await help.getByRole('listitem').filter({ hasText: 'Lin' }).getByRole('button', { name: 'Take' }).click()
  await help.getByText('with you').waitFor()
  for (const name of ['Edit', 'Results', 'Settings']) assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name)
  assert.equal(await page.getByRole('button', { name: 'End the workshop' }).count(), 0)
  await page.goto(`/admin/${lab.id}/edit`)
  await page.waitForURL('**/admin')
  await page.getByRole('link', { name: 'A small service' }).waitFor()
  assert.equal(await page.getByText('Another one').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'New codelab' }).count(), 0)

  // Out within a moment, wherever they are.
  await page.goto(`/admin/${lab.id}`)
  await page.getByRole('region', { name: 'Help queue' }).waitFor()
  guest.expect(/40[13]/)
  await office.page.getByRole('button', { name: 'More for Asa' }).click()
  await office.page.getByRole('menuitem', { name: 'Disable' }).click()
  await office.page.getByText('disabled', { exact: true }).waitFor()
  await until('they are out', async () => (await page.request.get(`/api/codelabs/${lab.id}/help`)).status() >= 401)
  await page.goto(`/admin/${lab.id}`)
  await page.getByLabel('Password').waitFor()
})

test('a helper for a day opens a link on a phone, and another phone ends the first', async ({ visitor, facilitator }) => {
  const owner = await facilitator()
  const lab = await owner.codelab({ title: 'A small service' })
  const expires = new Date(Date.now() + 3_600_000).toISOString()
  const made = await owner.send('POST', '/admin/people', { name: 'Hal', role: 'assistant', codelabs: [lab.id], expires_at: expires })
  const phone = { viewport: { width: 360, height: 740 } }
  const first = await visitor(phone)
  await first.page.goto(made.invitation.url)
  await first.page.getByText('You need no password.').waitFor()
  await accessible(first.page)
  await first.page.getByRole('button', { name: 'Start helping' }).click()
  await first.page.waitForURL(`**/admin/${lab.id}`)
  const second = await visitor(phone)
  second.expect(/409/)
  await second.page.goto(made.invitation.url)
  await second.page.getByRole('button', { name: 'Start helping' }).click()
  await second.page.getByText('You are signed in on another phone.').waitFor()
  first.expect(/40[13]/)
  await second.page.getByRole('button', { name: 'Sign in here' }).click()
  await second.page.waitForURL(`**/admin/${lab.id}`)
  assert.equal((await first.page.request.get(`/api/codelabs/${lab.id}/help`)).status(), 401)

  const third = await visitor()
  third.expect(/404/)
  await third.page.goto('/invite#nothing')
  await third.page.getByText('This invitation is not valid any more').waitFor()
  await accessible(third.page)
})

test('an account: where one is signed in, and another password', async ({ server, visitor, facilitator }) => {
  const owner = await facilitator()
  const made = await owner.send('POST', '/admin/people', { login: 'fay', name: 'Fay', role: 'facilitator' })
  const token = made.invitation.url.split('#')[1]
  const elsewhere = await visitor()
  const { page } = await visitor()
  await page.goto(made.invitation.url)
  await page.getByLabel('Choose a password').fill(password)
  await page.getByLabel('The same again').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.waitForURL('**/admin')
  assert.equal(
    (await fetch(`${server.url}/api/invitations/look`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token }) }))
      .status,
    404,
  )
  await elsewhere.page.goto('/login')
  await elsewhere.page.getByLabel('Admin id').fill('fay')
  await elsewhere.page.getByLabel('Password').fill(password)
  await elsewhere.page.getByRole('button', { name: 'Sign in' }).click()
  await elsewhere.page.waitForURL('**/admin')

  await page.goto('/account')
  await page.getByText('this one').waitFor()
  await accessible(page)
  elsewhere.expect(/401/)
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByText('The session has ended').waitFor()
  assert.equal((await elsewhere.page.request.get('/api/account')).status(), 401)
  await page.getByLabel('Old password').fill(password)
  await page.getByLabel('New password').fill('staple battery horse')
  await page.getByLabel('The same again').fill('staple battery horse')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('The password is changed').waitFor()
  // A facilitator leads assistants alone.
  await page.goto('/admin/people')
  await page.getByRole('button', { name: 'Invite somebody' }).click()
  assert.equal(await page.getByRole('option', { name: 'Facilitator, leads all codelabs' }).count(), 0)
})
