// Facilitators: invitations, accounts, assistants and helpers for a day.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { accessible, onPaper, stage, until } from './harness/stage.mjs'

const { test, long } = stage()
const password = 'correct horse battery'

/** The link that the page shows once. */
async function shownLink(page) {
  const link = await page.getByText(/\/invite#[\w-]{43}$/).textContent()
  await page.getByRole('button', { name: 'I have saved it' }).click()
  return link
}

test('an assistant is invited, helps, cannot change anything, and is signed out when disabled', async ({ visitor, facilitator, person }) => {
  const owner = await facilitator()
  const lab = await owner.codelab({ title: 'A small service' })
  await owner.codelab({ title: 'Another one', is_public: false })
  const lin = await person(lab, 'Lin')
  await lin.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1, message: 'how?' })

  const office = await visitor({ as: owner })
  await office.page.goto('/admin/people')
  await office.page.getByText('Nobody yet').waitFor()
  await office.page.getByRole('button', { name: 'Invite somebody' }).click()
  await office.page.getByRole('button', { name: 'Create the link' }).click()
  await office.page.getByText('Enter a name.').waitFor()
  await office.page.getByLabel('Name', { exact: true }).fill('Asa')
  await office.page.getByLabel('Login').fill('asa@example.org')
  await office.page.getByLabel('A small service').check()
  await accessible(office.page)
  await office.page.getByRole('button', { name: 'Create the link' }).click()
  const link = await shownLink(office.page)
  await office.page.getByText('invited').waitFor()
  await accessible(office.page)

  const guest = await visitor()
  const { page } = guest
  await page.goto(link)
  await page.getByRole('heading', { name: 'Welcome, Asa' }).waitFor()
  assert.equal(new URL(page.url()).hash, '', 'the address still contains the token')
  await page.getByLabel('Choose a password').fill('short')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('It must have at least 12 characters.').waitFor()
  await page.getByLabel('Choose a password').fill(password)
  await page.getByLabel('Repeat the password').fill(`${password}!`)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByText('The passwords differ.').waitFor()
  await accessible(page)
  await page.getByLabel('Repeat the password').fill(password)
  await page.getByRole('button', { name: 'Sign in' }).click()

  // The assistant sees the codelab's live view without controls that change the codelab.
  await page.waitForURL(`**/admin/${lab.id}`)
  const help = page.getByRole('region', { name: 'Help queue' })
  await help.getByRole('listitem').filter({ hasText: 'Lin' }).getByRole('button', { name: 'Take' }).click()
  await help.getByText('with you').waitFor()
  for (const name of ['Edit', 'Results', 'Settings']) assert.equal(await page.getByRole('link', { name, exact: true }).count(), 0, name)
  assert.equal(await page.getByRole('button', { name: 'End the workshop' }).count(), 0)
  await page.goto(`/admin/${lab.id}/edit`)
  await page.waitForURL('**/admin')
  await page.getByRole('link', { name: 'A small service' }).waitFor()
  await page.getByText('0 here now, 1 in all').waitFor()
  assert.equal(await page.getByText('Another one').count(), 0)
  assert.equal(await page.getByRole('button', { name: 'New codelab' }).count(), 0)

  // The person is signed out everywhere within a moment.
  await page.goto(`/admin/${lab.id}`)
  await page.getByRole('region', { name: 'Help queue' }).waitFor()
  guest.expect(/40[13]/)
  await office.page.getByRole('button', { name: 'More for Asa' }).click()
  await office.page.getByRole('menuitem', { name: 'Disable' }).click()
  await office.page.getByText('disabled', { exact: true }).waitFor()
  await until('the assistant to be signed out', async () => (await page.request.get(`/api/codelabs/${lab.id}/help`)).status() >= 401)
  // The request that the assistant has claimed waits again.
  await until('the claim to be released', async () => (await owner.send('GET', `/codelabs/${lab.id}/help`))[0].status === 'pending')
  await page.goto(`/admin/${lab.id}`)
  await page.getByLabel('Password').waitFor()
})

/**
 * The operations that the table of rights refuses to assistants of the codelab, with ids put in.
 */
async function forbidden(lab) {
  const table = await readFile(new URL('../../../cmd/atelier/acceptance/testdata/rights.txt', import.meta.url), 'utf8')
  const nobody = '019a3f65-6d4e-7b99-8f10-2b3c4d5e6f09'
  const assistant = 6
  return (
    table
      .split('\n')
      .filter((line) => /^[A-Z]+ \//.test(line))
      .map((line) => line.split(/\s+/))
      .filter((cells) => cells[assistant] === '-')
      // An assistant's page does not use paths that accept no cookie.
      .filter(([, path]) => !/^\/(?:git|check)\//.test(path))
      .map(([method, path]) => ({ method, path: `/api${path.replace('{id}', lab.id).replaceAll(/\{\w+\}/g, nobody)}` }))
  )
}

long(
  'an assistant with a phone solves three requests, cannot reach forbidden pages, and is signed out during a claim',
  async ({ visitor, facilitator, person }) => {
    const owner = await facilitator()
    const lab = await owner.codelab({ title: 'A service with helpers' })
    const names = ['Ann', 'Bob', 'Cem', 'Dan']
    for (const name of names) await (await person(lab, name)).send('POST', `/codelabs/${lab.id}/help`, { step_number: 1 })

    // The owner invites a facilitator and an assistant.
    const office = await visitor({ as: owner })
    const links = {}
    await office.page.goto('/admin/people')
    for (const [name, kind] of [
      ['Flo', 'Facilitator, leads all codelabs'],
      ['Ada', 'Assistant of some codelabs'],
    ]) {
      await office.page.getByRole('button', { name: 'Invite somebody' }).click()
      await office.page.getByLabel('Role').selectOption(kind)
      await office.page.getByLabel('Name', { exact: true }).fill(name)
      await office.page.getByLabel('Login').fill(`${name}@story.test`)
      if (name === 'Ada') await office.page.getByLabel('A service with helpers').check()
      await office.page.getByRole('button', { name: 'Create the link' }).click()
      links[name] = await shownLink(office.page)
    }
    const accept = async (guest, link) => {
      await guest.page.goto(link)
      await guest.page.getByLabel('Choose a password').fill(password)
      await guest.page.getByLabel('Repeat the password').fill(password)
      await guest.page.getByRole('button', { name: 'Sign in' }).click()
    }
    const flo = await visitor()
    await accept(flo, links.Flo)
    await flo.page.waitForURL('**/admin')
    await flo.page.goto(`/admin/${lab.id}`)
    const queue = flo.page.getByRole('region', { name: 'Help queue' })
    await queue.getByRole('listitem').filter({ hasText: 'Ann' }).waitFor()

    // A facilitator reads the audit trail of a codelab.
    await flo.page.getByRole('button', { name: 'Appearance and language' }).click()
    await flo.page.getByRole('menuitem', { name: 'Audit log' }).click()
    await flo.page.getByRole('listitem').filter({ hasText: 'Asked for help' }).first().waitFor()
    await flo.page.goto(`/admin/${lab.id}`)
    await queue.getByRole('listitem').filter({ hasText: 'Ann' }).waitFor()

    const ada = await visitor({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    const { page } = ada
    await accept(ada, links.Ada)
    await page.waitForURL(`**/admin/${lab.id}`)
    const one = (name) => page.getByRole('listitem').filter({ hasText: name })
    for (const name of names.slice(0, 3)) {
      await one(name).getByRole('button', { name: 'Take' }).tap()
      await one(name).getByRole('button', { name: 'Solved' }).tap()
      await one(name).waitFor({ state: 'detached' })
    }
    await queue.getByRole('listitem').filter({ hasText: 'Cem' }).waitFor({ state: 'detached' })

    // No control leads to forbidden pages, and the server refuses forbidden operations.
    await page.getByRole('button', { name: 'Whole view' }).tap()
    await page.getByRole('group', { name: 'People by step' }).waitFor()
    const none = async (...words) => {
      for (const name of words)
        for (const role of ['link', 'button', 'menuitem', 'checkbox'])
          assert.equal(await page.getByRole(role, { name, exact: true }).count(), 0, `the assistant sees the ${role} "${name}"`)
    }
    await none('Edit', 'Code', 'Results', 'Settings', 'End the workshop', 'Add a helper')
    await page.getByRole('button', { name: 'Appearance and language' }).tap()
    await page.getByRole('menuitem', { name: 'Account' }).waitFor()
    await none('Add a helper', 'People', 'Audit log', 'Tokenization', 'Settings')
    // Back to the view of only the queue.
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'More', exact: true }).tap()
    await page.getByRole('menuitem', { name: 'Only the help queue' }).tap()
    await page.getByRole('button', { name: 'Whole view' }).waitFor()
    ada.expect(/403/)
    const tried = await forbidden(lab)
    assert.ok(tried.length > 50, `got ${tried.length} forbidden operations, want more than 50`)
    const answers = await page.evaluate(async (tried) => {
      const [, csrf] = /svc_csrf=([^;]+)/.exec(document.cookie)
      const out = []
      for (const { method, path } of tried) {
        const headers = method === 'GET' ? {} : { 'X-CSRF-Token': csrf, 'Content-Type': 'application/json' }
        const answer = await fetch(path, { method, headers, ...(method === 'GET' ? {} : { body: '{}' }) })
        if (answer.status !== 403) out.push(`${method} ${path}: ${answer.status}`)
      }
      return out
    }, tried)
    assert.deepEqual(answers, [])

    // The assistant is signed out during a claim, and the claimed request waits again.
    await page.reload()
    await one('Dan').getByRole('button', { name: 'Take' }).tap()
    await queue.getByText('1 with Ada').waitFor() // the requests of other helpers are folded
    ada.expect(/401/, /WebSocket/)
    await office.page.getByRole('button', { name: 'More for Ada' }).click()
    await office.page.getByRole('menuitem', { name: 'Disable' }).click()
    await queue.getByRole('listitem').filter({ hasText: 'Dan' }).getByRole('button', { name: 'Take' }).waitFor()
    await page.getByRole('alert').getByText('You are no longer signed in here.').waitFor()
    await page.getByRole('button', { name: 'Sign in' }).tap()
    await page.getByLabel('Password').waitFor()
    await queue.getByRole('listitem').filter({ hasText: 'Dan' }).getByRole('button', { name: 'Take' }).click()
    await queue.getByText('with you').waitFor()
  },
)

long('a helper for a day signs in with a link on a phone, and a second phone signs the first out', async ({ visitor, facilitator }) => {
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
  // Facilitators see the second phone in the list of people.
  const office = await visitor({ as: owner })
  await office.page.goto('/admin/people')
  await office.page.getByText(/on another phone since/).waitFor()

  const third = await visitor()
  third.expect(/404/)
  await third.page.goto('/invite#nothing')
  await third.page.getByText('This invitation is no longer valid').waitFor()
  await accessible(third.page)
})

long('a helper is added from the live view, and works through the queue on a phone', async ({ visitor, facilitator, person }) => {
  const owner = await facilitator()
  const lab = await owner.codelab({ title: 'A small service' })
  const [ann, bob, cem] = [await person(lab, 'Ann'), await person(lab, 'Bob'), await person(lab, 'Cem')]
  await ann.send('PUT', `/codelabs/${lab.id}/attendees/${ann.id}`, { place: 'Row 3, window' })

  const desk = await visitor({ as: owner })
  await desk.page.goto(`/admin/${lab.id}`)
  // The floor shows somebody's place beside the name.
  await desk.page.getByTitle(/^Ann, .*Row 3, window/).waitFor()
  await desk.page.getByRole('button', { name: 'More', exact: true }).click()
  await desk.page.getByRole('menuitem', { name: 'Add a helper' }).click()
  const answer = desk.page.waitForResponse((r) => r.request().method() === 'POST' && r.url().endsWith('/admin/people'))
  await desk.page.getByRole('button', { name: 'Create the link' }).click()
  const link = (await (await answer).json()).invitation.url
  await desk.page.getByRole('img', { name: 'Link for Helper' }).waitFor()
  await accessible(desk.page)
  // The printed page states its purpose, and contains nothing of the page behind the dialog.
  await onPaper(desk.page, async () => {
    await desk.page.getByText('Scan this with your phone to help today.').waitFor()
    await desk.page.getByRole('heading', { level: 1, name: 'A small service' }).waitFor()
    assert.equal(await desk.page.getByRole('button', { name: 'Print' }).count(), 0)
  })
  await desk.page.getByRole('button', { name: 'Done' }).click()

  const { page } = await visitor({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true })
  await page.goto(link)
  await page.getByRole('button', { name: 'Start helping' }).click()
  await page.getByText('Nobody is waiting for help.').waitFor()
  await ann.send('POST', `/codelabs/${lab.id}/help`, { step_number: 1, message: 'It says EACCES' })
  const one = page.getByRole('listitem').filter({ hasText: 'Ann' })
  await one.getByText('Row 3, window').waitFor()
  await one.getByText('It says EACCES').waitFor()
  await accessible(page)
  // Every button is large enough for a thumb.
  const keys = await page.getByRole('button', { name: /Take|Help|Messages/ }).all()
  assert.ok(keys.length > 1, 'the buttons are missing')
  for (const key of keys) assert.ok((await key.boundingBox()).height >= 44)

  // Ann sees that a helper is coming, and later that the helper did not find her. She asks again.
  const seat = await visitor({ as: ann })
  await seat.page.goto(`/codelabs/${lab.id}`)
  await seat.page.getByText('You are number 1.').first().waitFor()
  await one.getByRole('button', { name: 'Take' }).click()
  await seat.page.getByText('Helper is on the way').first().waitFor()
  await one.getByRole('button', { name: 'Could not find them' }).click()
  const notices = seat.page.getByRole('region', { name: 'Notices' })
  await notices.getByText('We could not find you.').waitFor()
  await notices.getByRole('button', { name: 'Put away' }).click()
  await seat.page.getByText('You are number 1.').first().waitFor()
  await one.getByRole('button', { name: 'Take' }).click()
  await one.getByRole('button', { name: 'Solved' }).click()
  await seat.page.getByText('A facilitator has marked your question as solved.').waitFor()
  await page.getByText('Nobody is waiting for help.').waitFor()

  // Messages among facilitators.
  await page.getByRole('button', { name: 'Messages' }).click()
  await page.getByLabel('Write to the facilitators').fill('Row 3 has no power')
  await page.keyboard.press('Enter')
  await desk.page.getByRole('group', { name: 'Room or direct' }).getByRole('button', { name: 'Direct' }).click()
  await desk.page.getByRole('button', { name: 'Among facilitators' }).click()
  await desk.page.getByText('Row 3 has no power').waitFor()
  await accessible(page)

  // Two more requests are answered together from the desk.
  for (const p of [bob, cem]) await p.send('POST', `/codelabs/${lab.id}/help`, { step_number: 2 })
  const other = await visitor({ as: bob })
  await other.page.goto(`/codelabs/${lab.id}`)
  await other.page.getByText('You are number 1.').first().waitFor()
  const queue = desk.page.getByRole('region', { name: 'Help queue' })
  await queue.getByRole('button', { name: 'Answer several' }).click()
  const several = desk.page.getByRole('dialog', { name: 'Answer several' })
  await several.getByRole('button', { name: 'All of step 2' }).click()
  await accessible(desk.page)
  await several.getByLabel('One answer to all that are chosen').fill('Port 8080 is taken: use 8081')
  await several.getByRole('button', { name: 'Answer and close: 2' }).click()
  await other.page.getByRole('region', { name: 'Notices' }).filter({ hasText: 'Port 8080 is taken: use 8081' }).waitFor()
  await queue.getByText('Nobody is waiting for help.').waitFor()

  // The full view is also available.
  await page.getByRole('button', { name: 'Whole view' }).click()
  await page.getByRole('group', { name: 'People by step' }).waitFor()
})

long("the owner and an assistant see each other's actions, and the owner changes where the assistant helps", async ({ visitor, facilitator, person }) => {
  const owner = await facilitator()
  const lab = await owner.codelab({ title: 'First floor' })
  const other = await owner.codelab({ title: 'Second floor' })
  const ann = await person(lab, 'Ann')
  const made = await owner.send('POST', '/admin/people', { login: 'pia', name: 'Pia', role: 'assistant', codelabs: [lab.id] })
  const pia = await visitor()
  await pia.page.goto(made.invitation.url)
  await pia.page.getByLabel('Choose a password').fill(password)
  await pia.page.getByLabel('Repeat the password').fill(password)
  await pia.page.getByRole('button', { name: 'Sign in' }).click()
  await pia.page.waitForURL(`**/admin/${lab.id}`)
  const desk = await visitor({ as: owner })
  const { page } = desk
  await page.goto(`/admin/${lab.id}`)
  await pia.page.getByRole('button', { name: 'Bring everybody to step 2' }).click()
  await page.getByText('sent here by Pia').waitFor()
  await pia.page.getByText('sent here by you').waitFor()
  const seat = await visitor({ as: ann })
  await seat.page.goto(`/codelabs/${lab.id}`)
  await pia.page.getByLabel('Write to everybody').fill('Hello from the back')
  await pia.page.keyboard.press('Enter')
  for (const one of [page, seat.page])
    await one.locator('.message').filter({ hasText: 'Hello from the back' }).getByText('facilitator', { exact: true }).waitFor()
  await accessible(page)

  await page.goto('/admin/people')
  await page.getByRole('button', { name: 'More for Pia' }).click()
  await page.getByRole('menuitem', { name: 'Change' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('First floor').uncheck()
  await dialog.getByLabel('Second floor').check()
  await dialog.getByLabel('Name').fill('Pia P.')
  await accessible(page)
  pia.expect(/40[13]/, /WebSocket/)
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText('Pia P.').waitFor()
  const now = (await owner.send('GET', '/admin/people')).find((p) => p.login === 'pia')
  assert.deepEqual([now?.name, now?.codelabs], ['Pia P.', [other.id]])
  // A new link voids the password, so the page asks for confirmation.
  await page.getByRole('button', { name: 'More for Pia P.' }).click()
  await page.getByRole('menuitem', { name: 'New link' }).click()
  await page.getByRole('dialog').getByText('Their password and all their sessions end at once.').waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
  assert.equal((await owner.send('GET', '/admin/people')).find((p) => p.login === 'pia')?.state, 'active')
  await until('the sessions to end', async () => (await pia.page.request.get('/api/account')).status() === 401)
})

long('the account page ends another session and changes the password', async ({ server, visitor, facilitator }) => {
  const owner = await facilitator()
  const made = await owner.send('POST', '/admin/people', { login: 'fay', name: 'Fay', role: 'facilitator' })
  const token = made.invitation.url.split('#')[1]
  const elsewhere = await visitor()
  const { page } = await visitor()
  await page.goto(made.invitation.url)
  await page.getByLabel('Choose a password').fill(password)
  await page.getByLabel('Repeat the password').fill(password)
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
  await page.getByLabel('Repeat the password').fill('staple battery horse')
  await page.getByRole('button', { name: 'Change the password' }).click()
  await page.getByText('The password is changed').waitFor()
  // A facilitator can invite only assistants.
  await page.goto('/admin/people')
  await page.getByRole('button', { name: 'Invite somebody' }).click()
  await page.getByRole('button', { name: 'Create the link' }).waitFor()
  assert.equal(await page.getByRole('option', { name: 'Facilitator, leads all codelabs' }).count(), 0)
})
