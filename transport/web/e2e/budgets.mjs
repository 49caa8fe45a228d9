// Compares measured times with their limits, on a quiet machine. Exits with 1 if a limit is
// exceeded.
//
//   make budgets
import { crowd, measureChat, measureFind, measureFloor, unlimited } from './harness/crowd.mjs'
import { openBrowser, Visitor } from './harness/browser.mjs'
import { firstLoad, measureFirstLoad } from './harness/firstload.mjs'
import { Person } from './harness/people.mjs'
import { Server } from './harness/server.mjs'

const rounds = 5
const server = await new Server(unlimited).start()
const browser = await openBrowser()
let missed = 0
try {
  const lead = await new Person(server).login()
  const lab = await lead.codelab({ steps: ['# One\n\nThe text of the first step.\n\n```go\nfunc main() {}\n```', '# Two\n\nMore.'] })
  const times = []
  for (let i = 0; i < rounds; i++) {
    const as = await new Person(server).register(lab, `Attendee ${i + 1}`)
    const visitor = await Visitor.open(browser, server, { as })
    times.push((await measureFirstLoad(visitor, lab, 'The text of the first step.', { slowed: 4 })).readable)
    await visitor.context.close()
  }
  hold('first load of the reader, with the processor slowed four times', median(times), firstLoad.readable)

  const [reader, speaker] = [await new Person(server).register(lab, 'Reader'), await new Person(server).register(lab, 'Speaker')]
  const chat = await Visitor.open(browser, server, { as: reader })
  hold("another person's message on the screen", median(await measureChat(chat, lab, speaker)), 50)
  await chat.context.close()

  const full = await lead.codelab()
  const people = await crowd(server, full, 10_000)
  const boss = await Visitor.open(browser, server, { as: lead, viewport: { width: 1440, height: 900 } })
  const floor = await measureFloor(boss, full, people)
  console.log(`      ${floor.moves} moves of 10,000 people, ${floor.elements} elements`)
  hold('work per update, with 10,000 people and four updates per second', floor.perUpdate, 16)
  hold('the longest task of these updates', floor.longest, 50)
  hold('the longest task during a search for one of 10,000 people by name', await measureFind(boss), 50)
} finally {
  await browser.close()
  await server.remove()
}
process.exitCode = missed ? 1 : 0

/** Prints a time and its limit, both in milliseconds. Counts the times that exceed their limits. */
function hold(what, took, bound) {
  const over = took > bound
  if (over) missed++
  console.log(`${over ? 'OVER' : 'ok  '}  ${took.toFixed(0).padStart(6)} ms of ${bound}  ${what}`)
}

function median(list) {
  return list.toSorted((a, b) => a - b)[list.length >> 1]
}
