// Notes for facilitators appear in the editor's preview and next to the step in the live view, and
// nowhere that other people can see.
import assert from 'node:assert/strict'
import { sound, stage, still } from './harness/stage.mjs'

const { test } = stage()
const wide = { viewport: { width: 1440, height: 900 } }

const said = 'Ask who has seen this before'
const text = `Read this first.\n\n\`\`\`notes\n**${said}**, then wait.\n\n- Show the diagram.\n\`\`\`\n\nThen go on.\n`

test('a note is shown beside the step to facilitators, and nowhere to others', async ({ visitor, facilitator, person }) => {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: [{ title: 'One', content_markdown: text, duration_minutes: 5 }] })
  const ann = await person(lab, 'Ann')

  const edit = (await visitor({ as: lead, ...wide })).page
  await edit.goto(`/admin/${lab.id}/edit`)
  const preview = edit.getByRole('region', { name: 'Preview' })
  await preview.locator('aside.facilitator', { hasText: said }).waitFor()
  await edit.locator('.cm-content', { hasText: '```notes' }).waitFor()
  await sound(edit, 'notes-edit')

  const live = (await visitor({ as: lead, ...wide })).page
  await live.goto(`/admin/${lab.id}`)
  const notes = live.getByRole('region', { name: 'For facilitators' })
  await notes.getByText(said).waitFor()
  await notes.getByText(/of 5 min/).waitFor()
  await sound(live, 'notes-live')
  await live.keyboard.press('n')
  await notes.getByText(said).waitFor({ state: 'detached' })
  await live.reload()
  await notes.getByRole('button', { name: 'More about this step' }).click()
  await live.getByRole('menuitem', { name: 'Show notes' }).waitFor()
  await live.keyboard.press('Escape')
  assert.equal(await live.getByText(said).count(), 0, 'the notes are shown although the device stored that they are hidden')
  await live.keyboard.press('n')
  await notes.getByText(said).waitFor()

  const page = (await visitor({ as: ann, viewport: { width: 390, height: 844 } })).page
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByText('Then go on.').waitFor()
  assert.ok(!(await page.content()).includes(said), "an attendee's page contains a note")
  const wall = (await visitor({ as: lead, ...wide })).page
  await wall.goto(`/admin/${lab.id}/projector`)
  await wall.getByRole('heading', { level: 1 }).waitFor()
  await still(wall)
  assert.ok(!(await wall.content()).includes(said), 'the projector shows a note')
})
