import { beforeEach, expect, test, vi } from 'vitest'
import type { Room } from '../../live/room.svelte'
import { noPolls, pollsRead } from '../polls'
import type { Poll } from '../../workshop/state'
import { PollDesk } from './desk.svelte'

const calls = vi.hoisted(() => [] as { path: string; body: unknown }[])
const answers = vi.hoisted(() => [] as unknown[])
vi.mock('../../messages/compiled/messages.js', () => ({ m: new Proxy({}, { get: (_, key: string) => () => key }) }))
vi.mock('../../parts/toasts.svelte', () => ({ complain: (t: string) => calls.push({ path: `complained ${t}`, body: null }) }))
vi.mock('../../api/words', () => ({ words: (e: Error) => e.message }))
vi.mock('../../api/client', () => {
  const call = (path: string, { body }: { body?: unknown }) => (calls.push({ path: path.replace('/codelabs/{id}/polls', ''), body }), answers.shift())
  return {
    api: { POST: call, PUT: call, DELETE: call },
    ask: async (answer: unknown) => {
      if (answer instanceof Error) throw answer
      return answer
    },
    askAt: async (answer: unknown) => {
      if (answer instanceof Error) throw answer
      return { data: answer, at: null }
    },
  }
})

beforeEach(() => {
  calls.length = answers.length = 0
})

const poll = (more: Partial<Poll> = {}) => ({ id: 'p', round: 1, state: 'draft', opened_at: null, step_id: 's2', ...more }) as Poll

function stage(pointer: number | null, ...polls: Poll[]) {
  const room = {
    id: 'lab',
    now: {
      polls: pollsRead(noPolls, polls, null),
      steps: [{ id: 's1' }, { id: 's2' }],
      codelab: { pointer: pointer === null ? null : { step_number: pointer } },
    },
    assume(change: (w: object) => object) {
      room.now = { ...room.now, ...change(room.now) }
    },
  }
  return { desk: new PollDesk(room as unknown as Room), room }
}

test("the draft of the pointer's step is offered while no poll is open", () => {
  expect(stage(2, poll()).desk.offered?.id).toBe('p')
  for (const { desk } of [stage(1, poll()), stage(null, poll()), stage(2, poll({ state: 'closed' })), stage(2, poll(), poll({ id: 'o', state: 'open' }))])
    expect(desk.offered).toBeNull()
})

test('a draft that was declined is not offered again', () => {
  const { desk } = stage(2, poll(), poll({ id: 'q' }))
  desk.decline(poll())
  expect(desk.offered?.id).toBe('q')
})

test('a minute card is created as an anonymous text with two boxes, and opened', async () => {
  const { desk } = stage(null)
  answers.push(poll({ id: 'one' }), poll({ id: 'one', state: 'open' }))
  await desk.minuteCard()
  const options = ['poll_minute_learned', 'poll_minute_unclear']
  const card = { path: '', body: { kind: 'text', question: 'poll_minute', options, anonymous: true } }
  expect(calls).toEqual([card, { path: '/{poll_id}/open', body: {} }])
  expect(desk.open?.id).toBe('one')
})

test('nothing opens when a minute card cannot be created', async () => {
  const { desk } = stage(null)
  answers.push(new Error('full'))
  await desk.minuteCard()
  expect(calls.map((c) => c.path)).toEqual(['', 'complained full'])
})

test("the server's response is shown at once", async () => {
  const { desk, room } = stage(null, poll())
  answers.push(poll({ state: 'open' }))
  await desk.begin(poll(), 30)
  expect(calls[0]).toEqual({ path: '/{poll_id}/open', body: { seconds: 30 } })
  expect(room.now.polls.byId.get('p')?.state).toBe('open')
  answers.push(new Error('closed'))
  expect(await desk.close(poll())).toBeNull()
  expect([desk.act.busy, room.now.polls.byId.get('p')?.state]).toEqual([null, 'open'])
})
