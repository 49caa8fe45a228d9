// Signing in with a real identity provider.
import assert from 'node:assert/strict'
import { IdentityProvider } from './harness/provider.mjs'
import { accessible, stage } from './harness/stage.mjs'

const { test, long } = stage()

/** The browser's error on the provider's page, which has no icon. */
const ofProvider = /favicon\.ico/

/** Signs in at the provider's own page. */
async function atProvider(page, email) {
  await page.getByLabel('Username').fill(email)
  await page.getByLabel('Password').fill('verysecure')
  await page.getByRole('button', { name: 'Login' }).click()
}

/**
 * Starts an identity provider with four people, and restarts the server so that it uses the
 * provider. Returns the provider.
 */
async function provider(server, env = {}) {
  const at = await new IdentityProvider().start(server.url, [
    { name: 'Ann Lee', email: 'Ann@example.org' },
    { name: 'Eve Ill', email: 'eve@elsewhere.test' },
    { name: 'Una Fied', email: 'una@example.org', verified: false },
    { name: 'Fay Old', email: 'fay@example.org' },
  ])
  await server.stop()
  server.configure({
    ATELIER_SERVER_PUBLIC_URL: server.url,
    ATELIER_LOGIN_OIDC_ISSUER: at.issuer,
    ATELIER_LOGIN_OIDC_CLIENT_ID: 'atelier',
    ATELIER_LOGIN_OIDC_CLIENT_SECRET: 'secret',
    ATELIER_LOGIN_OIDC_ALLOWED: '*@example.org',
    ATELIER_LOGIN_OIDC_LABEL: 'Sign in with Example',
    ...env,
  })
  await server.start()
  return at
}

test('a person gets from a new browser to the live view through the identity provider', async ({ server, visitor, facilitator }) => {
  const at = await provider(server)
  try {
    const owner = await facilitator()
    const lab = await owner.codelab({ title: 'A small service' })
    const ann = await visitor()
    const { page } = ann
    ann.expect(/401/, ofProvider)
    await page.goto(`/admin/${lab.id}`)
    const key = page.getByRole('link', { name: 'Sign in with Example' })
    await key.waitFor()
    await page.getByLabel('Password').waitFor()
    await accessible(page)
    await key.click()
    await atProvider(page, 'Ann@example.org')
    await page.waitForURL(`**/admin/${lab.id}`)
    await page.getByRole('region', { name: 'Help queue' }).waitFor()
    await page.goto('/account')
    await page.getByText('You sign in through the identity provider, which manages your password.').waitFor()
    await page.getByText('Ann Lee').first().waitFor()
    assert.equal(await page.getByLabel('New password').count(), 0)

    const office = await visitor({ as: owner })
    await office.page.goto('/admin/people')
    await office.page.getByText('ann@example.org').waitFor()
    await office.page.getByText('active').waitFor()
  } finally {
    await at.remove()
  }
})

long('a refused sign-in shows the reason; the owner can link an existing person with the provider', async ({ server, visitor, facilitator }) => {
  const at = await provider(server, { ATELIER_LOGIN_PASSWORD_LOGIN: 'false' })
  try {
    const owner = await facilitator()
    const made = await owner.send('POST', '/admin/people', { login: 'fay@example.org', name: 'Fay', role: 'facilitator' })
    for (const [email, why] of [
      ['eve@elsewhere.test', 'Your e-mail address is not among those that may sign in here.'],
      ['una@example.org', 'The identity provider has not verified your e-mail address.'],
    ]) {
      const stranger = await visitor()
      stranger.expect(ofProvider)
      const { page } = stranger
      await page.goto('/login')
      const key = page.getByRole('link', { name: 'Sign in with Example' })
      await key.waitFor()
      assert.equal(await page.getByLabel('Password').isVisible(), false, 'the password field is shown before the owner asks for it')
      await key.click()
      await atProvider(page, email)
      await page.getByText(why).waitFor()
      await accessible(page)
    }
    // The owner's own login page.
    const { page } = await visitor()
    await page.goto('/login')
    await page.getByText('The owner signs in here').click()
    await page.getByLabel('Admin id').fill(server.adminId)
    await page.getByLabel('Password').fill(server.adminPw)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.waitForURL('**/admin')
    // Invited people sign in with the provider, from the invitation.
    const guest = await visitor()
    guest.expect(ofProvider)
    await guest.page.goto(made.invitation.url)
    await guest.page.getByText('Your e-mail address there must be this login.').waitFor()
    await accessible(guest.page)
    await guest.page.getByRole('link', { name: 'Sign in with Example' }).click()
    await atProvider(guest.page, 'fay@example.org')
    await guest.page.waitForURL('**/admin')
    // The owner permits the next sign-in to be linked to a person, and then cancels the permission.
    await page.goto('/admin/people')
    await page.getByRole('button', { name: 'More for Fay' }).click()
    await page.getByRole('menuitem', { name: 'Link with the identity provider' }).click()
    await page.getByText('The next sign-in at the provider will be linked').first().waitFor()
    await page.getByRole('button', { name: 'More for Fay' }).click()
    await page.getByRole('menuitem', { name: 'Do not link with the provider' }).click()
    await page.getByText('The next sign-in will not be linked').waitFor()
  } finally {
    await at.remove()
  }
})

long('while the provider is unavailable, sign-in with a password works', async ({ server, visitor }) => {
  const at = await provider(server)
  await at.remove()
  const { page } = await visitor()
  await page.goto('/login?next=/admin/settings')
  await page.getByRole('link', { name: 'Sign in with Example' }).click()
  await page.getByText('The identity provider does not answer.').waitFor()
  const id = page.getByLabel('Admin id')
  assert.equal(await id.inputValue(), '', 'the admin id is not empty')
  await id.fill(server.adminId)
  await page.getByLabel('Password').fill(server.adminPw)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.waitForURL('**/admin/settings')
})
