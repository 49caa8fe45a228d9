// What the app may cost. Sizes and counts fail here; times are only told, since
// the machine is busy: make budgets holds them against their bounds.
import assert from 'node:assert/strict'
import { firstLoad, measureFirstLoad } from './harness/firstload.mjs'
import { stage } from './harness/stage.mjs'

const { test } = stage()

/** The first load of somebody who has registered. */
async function load({ visitor, facilitator, person }) {
  const lead = await facilitator()
  const lab = await lead.codelab({ steps: ['# One\n\nThe text of the first step.\n\n```go\nfunc main() {}\n```', '# Two\n\nMore.'] })
  return measureFirstLoad(await visitor({ as: await person(lab, 'Attendee 1') }), lab, 'The text of the first step.')
}

test('a reader loads little', async (scene) => {
  const got = await load(scene)
  scene.note(`${(got.bytes / 1000).toFixed(1)} kB, ${got.nodes} elements, readable after ${got.readable.toFixed(0)} ms`)
  assert.ok(got.bytes > 0, 'no script was seen')
  assert.ok(got.bytes <= firstLoad.bytes, `${got.bytes} bytes of JavaScript and CSS, at most ${firstLoad.bytes} may be:\n${got.largest.join('\n')}`)
})

test('a reader asks seldom', async (scene) => {
  const got = await load(scene)
  scene.note(`${got.requests} requests`)
  assert.ok(got.requests <= firstLoad.requests, `${got.requests} requests, at most ${firstLoad.requests} may be:\n${got.asked.join('\n')}`)
})
