// A step's code for attendees: sharing, browsing, downloading, cloning.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { sound, stage, still, until } from './harness/stage.mjs'

const { test, long } = stage()
const wide = { viewport: { width: 1440, height: 900 } }
const phone = { viewport: { width: 390, height: 800 }, hasTouch: true, isMobile: true }

/** Creates a workspace. heads contains the step and the type (start or end) of each state. */
async function workspace(lead, lab, structure, heads) {
  await lead.post('/codeserver', {
    codelab_id: lab.id,
    structure_type: structure,
    workspace_files: [{ path: 'main.go', content: 'package main // of the author\n' }],
  })
  for (const [step, type] of heads) {
    const head = structure === 'branch' ? 'branch' : 'folder'
    await lead.post(`/codeserver/${lab.id}/${head}`, { step_number: step, [`${head}_type`]: type })
    await lead.post(`/codeserver/${lab.id}/${head === 'branch' ? 'branches' : 'folders'}/step-${step}-${type}/files`, {
      files: [
        { path: 'cmd/main.go', content: `package main // ${type} of step ${step}\n` },
        { path: 'README.md', content: '# Read me\n' },
      ],
    })
  }
}

test('an attendee who fell behind takes the start of the step that a facilitator points at', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ title: 'A small service' })
  await workspace(lead, lab, 'branch', [
    [1, 'start'],
    [1, 'end'],
    [2, 'start'],
  ])

  const ann = await person(lab, 'Attendee 1')
  const { page } = await visitor({ as: ann, ...phone, acceptDownloads: true })
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('navigation', { name: 'Steps, chat and help' }).getByRole('button', { name: 'Chat' }).click()
  const panel = page.getByRole('complementary')
  await panel.getByRole('tab', { name: 'Files' }).waitFor()
  await still(page)
  assert.equal(await panel.getByRole('tab', { name: 'Code' }).count(), 0, 'code that is not shared is offered')

  // A facilitator shares the code.
  const settings = (await visitor({ as: lead, ...wide })).page
  await settings.goto(`/admin/${lab.id}/settings/code`)
  await settings.getByRole('radio', { name: /^The start of each step/ }).check()
  await settings.getByRole('group', { name: 'Code for attendees' }).scrollIntoViewIfNeeded()
  await sound(settings, 'code-settings')
  await settings.getByRole('button', { name: 'Save' }).click()
  await until('the code to be shared', async () => (await lead.get(`/codelabs/${lab.id}`))[0].share_code === 'start')

  await panel.getByRole('tab', { name: 'Code' }).click()
  await panel.getByRole('link', { name: 'I fell behind: start of step 1' }).waitFor()
  assert.equal(await panel.getByText('Start of step 2').count(), 0, 'a state is shown before the pointer reaches its step')
  await lead.say(lab, { type: 'pointer', step_number: 2, hints: false })
  const behind = panel.getByRole('link', { name: 'I fell behind: start of step 2' })
  await behind.waitFor()
  await panel.getByText('git stash -u git fetch git switch --detach origin/step-2-start').waitFor()
  assert.equal(await panel.getByText('End of step 1').count(), 0, 'the end of a step is shown')
  await sound(page, 'code-panel-phone')

  // The attendee downloads the start of step 2.
  const [download] = await Promise.all([page.waitForEvent('download'), behind.click()])
  assert.equal(download.suggestedFilename(), 'step-2-start.zip')
  assert.equal((await readFile(await download.path())).subarray(0, 2).toString(), 'PK')

  // Facilitators see on the floor and in a person's details that the person has the code.
  await ann.say(lab, { type: 'step_progress', step_number: 2 })
  await settings.goto(`/admin/${lab.id}`)
  await settings.getByText('1 took the code').waitFor()
  await settings
    .getByRole('button', { name: /^Attendee 1/ })
    .or(settings.getByRole('region', { name: 'Step 2' }).getByRole('button', { name: '1 silent' }))
    .first()
    .click()
  await settings.getByRole('dialog', { name: 'Attendee 1' }).getByText('step-2-start').waitFor()
  await sound(settings, 'code-taken')

  // The attendee can read the files of a state.
  await panel.getByRole('button', { name: 'Files of Start of step 2' }).click()
  const dialog = page.getByRole('dialog', { name: 'Start of step 2' })
  await dialog.getByTitle('cmd/main.go').click()
  await dialog.locator('.cm-content', { hasText: 'start of step 2' }).waitFor()
  assert.equal(await dialog.locator('.cm-content').getAttribute('aria-readonly'), 'true', 'the code does not look read-only')
  await sound(page, 'code-file-phone')
  await page.goBack()
  await dialog.waitFor({ state: 'detached' })

  // The command for Git has a password that the page does not show.
  await page.evaluate(() => {
    navigator.clipboard.writeText = async (text) => {
      window.copied = text
    }
  })
  await panel.getByRole('button', { name: 'Use Git' }).click()
  const command = panel.getByText(/^git clone .*••••••@/)
  await command.waitFor()
  assert.ok(!(await page.content()).includes('atp_'), 'the page contains the password')
  await panel.getByRole('button', { name: 'Copy git clone' }).click()
  await page.getByText('Copied.').waitFor()
  assert.match(await page.evaluate(() => window.copied), /^git clone https?:\/\/x:[^•@]{16,}@[^ ]+ code$/)

  // The panel and the files also work on a wide screen.
  const desk = (await visitor({ as: ann, ...wide })).page
  await desk.goto(`/codelabs/${lab.id}`)
  await desk.getByRole('tab', { name: 'Code' }).click()
  await desk.getByRole('link', { name: 'I fell behind: start of step 2' }).waitFor()
  await sound(desk, 'code-panel-wide')
  await desk.getByRole('button', { name: 'Files of Start of step 1' }).click()
  await desk.getByTitle('cmd/main.go').click()
  await desk.locator('.cm-content', { hasText: 'start of step 1' }).waitFor()
  await sound(desk, 'code-file-wide')
})

long('folders are shared without Git', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ share_code: 'all' })
  await workspace(lead, lab, 'folder', [
    [1, 'start'],
    [1, 'end'],
  ])
  const { page } = await visitor({ as: await person(lab, 'Attendee 1'), ...wide })
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByRole('tab', { name: 'Code' }).click()
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'Download End of step 1 as ZIP' }).click()])
  assert.equal(download.suggestedFilename(), 'step-1-end.zip')
  assert.equal(await page.getByRole('button', { name: 'Use Git' }).count(), 0)
  assert.equal(await page.getByText('git fetch').count(), 0)
})
