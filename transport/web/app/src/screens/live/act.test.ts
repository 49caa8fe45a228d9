import { expect, test, vi } from 'vitest'
import { Act } from './act.svelte'

const complaints = vi.hoisted(() => [] as string[])
vi.mock('../../parts/toasts.svelte', () => ({ complain: (text: string) => complaints.push(text) }))
vi.mock('../../api/words', () => ({ words: (e: Error) => e.message }))

/** Work that runs until it is ended. */
function work(began: string[], name: string) {
  let end: (result: string) => void = () => {}
  return { run: () => (began.push(name), new Promise<string>((done) => (end = done))), end: (result: string) => end(result) }
}
const settle = () => new Promise((done) => setImmediate(done))

test('an action started during another one runs after it, and a second click on the same object has no effect', async () => {
  const act = new Act()
  const began: string[] = []
  const start = work(began, 'start')
  const more = work(began, 'more')
  const first = act.run('start', start.run)
  expect([act.busy, began]).toEqual(['start', ['start']])
  const second = act.run('more', more.run)
  expect(await act.run('start', start.run)).toBeNull()
  expect(await act.run('more', more.run)).toBeNull()
  await settle()
  expect([act.busy, began]).toEqual(['start', ['start']])
  start.end('5 min')
  expect(await first).toBe('5 min')
  await settle()
  expect([act.busy, began]).toEqual(['more', ['start', 'more']])
  more.end('6 min')
  expect([await second, act.busy]).toEqual(['6 min', null])
})

test('a failed action is reported, and the next one runs', async () => {
  const act = new Act()
  const failed = act.run('a', () => Promise.reject(new Error('no')))
  const next = act.run('b', async () => 'done')
  expect([await failed, await next, complaints]).toEqual([null, 'done', ['no']])
  expect(await act.run('a', async () => 'again')).toBe('again')
})
