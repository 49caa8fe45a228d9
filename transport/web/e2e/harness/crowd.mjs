// A crowd, and its effect on a page.
import { setTimeout as pause } from 'node:timers/promises'
import { Person } from './people.mjs'

/** The limits are off, since one client simulates a crowd. */
export const unlimited = {
  ATELIER_LIMITS_REGISTRATIONS_PER_SECOND: '0',
  ATELIER_LIMITS_REGISTRATIONS_PER_SECOND_PER_ADDRESS: '0',
  ATELIER_LIMITS_WRITES_PER_MINUTE: '0',
  ATELIER_LIMITS_READS_PER_MINUTE: '0',
}

/** Runs count jobs, at most atOnce of them concurrently. */
export async function each(count, job, atOnce = 16) {
  let next = 0
  await Promise.all(
    Array.from({ length: Math.min(atOnce, count) }, async () => {
      while (next < count) await job(next++)
    }),
  )
}

/** Reads a codelab's events until the signal aborts, so that the person counts as present. */
export async function listen(server, lab, person, signal) {
  try {
    const Cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const { body } = await fetch(`${server.url}/api/codelabs/${lab.id}/events`, { headers: { Cookie }, signal })
    for await (const chunk of body) void chunk
  } catch {
    // The signal has aborted the request.
  }
}

/** Registers count people and returns them. */
export async function crowd(server, lab, count) {
  const people = []
  await each(count, async (i) => {
    people[i] = await new Person(server).register(lab, `Attendee ${i + 1}`, '')
  })
  return people
}

/**
 * Sends chat messages, one per round. Returns for each the time from its frame to the screen, in
 * milliseconds.
 *
 * @param {import('./browser.mjs').Visitor} visitor
 */
export async function measureChat({ page }, lab, speaker, rounds = 10) {
  await page.addInitScript(() => {
    const Real = window.WebSocket
    window.frames_ = new Map()
    window.WebSocket = class extends Real {
      constructor(...args) {
        super(...args)
        this.addEventListener('message', (e) => {
          const m = JSON.parse(e.data)
          if (m.type === 'chat') window.frames_.set(m.message, performance.now())
        })
      }
    }
    window.shownAfter = (text) =>
      new Promise((done) => {
        const look = () => {
          const there = [...document.querySelectorAll('[role=log] .text')].some((e) => e.textContent === text)
          if (there) requestAnimationFrame(() => setTimeout(() => done(performance.now() - window.frames_.get(text))))
          else requestAnimationFrame(look)
        }
        look()
      })
  })
  await page.goto(`/codelabs/${lab.id}`)
  await page.getByText('● connected').waitFor()
  const times = []
  for (let i = 0; i < rounds; i++) {
    const text = `message ${i} ${crypto.randomUUID()}`
    const shown = page.evaluate((t) => window.shownAfter(t), text)
    await speaker.say(lab, { type: 'chat', message: text })
    times.push(await shown)
  }
  return times
}

/**
 * Main-thread work of the live view while people move, in milliseconds.
 *
 * @param {import('./browser.mjs').Visitor} visitor  of a facilitator
 * @param {Person[]} people  all registered people
 * @returns {Promise<{perUpdate: number, longest: number, updates: number, moves: number, elements: number}>}
 */
export async function measureFloor({ context, page }, lab, people, seconds = 8) {
  await page.addInitScript(() => {
    window.longest = 0
    new PerformanceObserver((list) => {
      for (const e of list.getEntries()) window.longest = Math.max(window.longest, e.duration)
    }).observe({ type: 'longtask' })
  })
  await page.goto(`/admin/${lab.id}`)
  await page.getByText(/are past step/).waitFor()
  const cdp = await context.newCDPSession(page)
  await cdp.send('Performance.enable')
  const busy = async () => (await cdp.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value * 1000
  let moves = 0
  let next = 0
  /**
   * Moves people at the rate of ten thousand people who need one minute per step. Nobody moves
   * twice, because there are fewer moves than people.
   */
  const move = async (seconds) => {
    const end = Date.now() + seconds * 1000
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        while (Date.now() < end) {
          const i = next++
          moves++
          await people[(i * 7919) % people.length].say(lab, { type: 'step_progress', step_number: 1 + (i % 3) })
          await pause(20)
        }
      }),
    )
  }
  await pause(1500) // the measurement excludes the work of opening the view,
  await move(2) // and the compilation of code that runs often
  moves = 0
  await page.evaluate(() => (window.longest = 0))
  const before = await busy()
  await move(seconds)
  const took = (await busy()) - before
  const updates = seconds * 4
  return {
    perUpdate: took / updates,
    longest: await page.evaluate(() => window.longest),
    updates,
    moves,
    elements: await page.evaluate(() => document.querySelectorAll('*').length),
  }
}

/**
 * The longest task while somebody types a name into the open search of the live view, in
 * milliseconds.
 *
 * @param {import('./browser.mjs').Visitor} visitor  of a facilitator
 */
export async function measureFind({ page }) {
  const field = page.getByRole('combobox', { name: 'Find a person' })
  await page.evaluate(() => (window.longest = 0))
  for (const text of ['attendee 99', 'ee 1', 'nobody of that name']) {
    await field.fill('')
    await field.pressSequentially(text, { delay: 60 })
  }
  await pause(500)
  return page.evaluate(() => window.longest)
}
