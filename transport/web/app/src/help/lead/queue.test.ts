import { beforeEach, expect, test, vi } from 'vitest'
import { Refused } from '../../api/refused'
import type { Room } from '../../live/room.svelte'
import type { Told } from '../../live/protocol'
import { apply } from '../../workshop/apply'
import { Meanwhile, type Holder } from '../../live/meanwhile'
import { workshop, type Codelab, type HelpRequest, type Workshop } from '../../workshop/state'
import { Queue } from './queue.svelte'

const { heard, leader, api } = vi.hoisted(() => ({
  heard: [] as string[],
  leader: { id: null as string | null },
  api: { refusal: null as Error | null, answer: null as unknown, before: () => {}, calls: [] as { path: string; body?: unknown }[] },
}))
vi.mock('../../admin/leader.svelte', () => ({ leader }))
vi.mock('../../messages/compiled/messages.js', () => ({
  m: new Proxy({}, { get: (_, key: string) => (args?: object) => [key, ...Object.values(args ?? {})].join(' ') }),
}))
vi.mock('../../parts/toasts.svelte', () => ({ complain: (t: string) => heard.push(`complaint ${t}`), toast: (t: string) => heard.push(t) }))
vi.mock('../../api/words', () => ({ words: () => 'refused' }))
vi.mock('../../api/client', () => ({
  ask: async (answer: unknown) => answer,
  askAt: async (answer: unknown) => ({ data: await answer, at: null }),
  api: {
    POST: async (path: string, { body }: { body?: unknown }) => {
      api.calls.push({ path: path.split('/').at(-1)!, ...(body === undefined ? {} : { body }) })
      if (api.refusal) throw api.refusal
      await Promise.resolve() // messages arrive after the request was sent
      api.before()
      return api.answer
    },
  },
}))

beforeEach(() => {
  heard.length = 0
  api.calls.length = 0
  api.refusal = null
  api.before = () => {}
  leader.id = 'ann'
})

const asked = (id: string, more: Partial<HelpRequest> = {}) =>
  ({ id, attendee_name: id.toUpperCase(), status: 'pending', created_at: `2026-01-01T00:00:0${id}Z`, claimed_by: null, person: null, ...more }) as HelpRequest
const claimed = (id: string, person: string | null, claimed_by: string) => asked(id, { status: 'in_progress', person, claimed_by })
class Desk {
  readonly id = 'lab'
  readonly you = { name: 'Ann' }
  now: Workshop
  readonly #meanwhile: Meanwhile
  constructor(help: readonly HelpRequest[]) {
    this.now = { ...workshop('facilitator', { id: 'lab' } as Codelab, []), help }
    this.#meanwhile = new Meanwhile(this as Holder)
  }
  async request<T>(call: Promise<{ data?: T; response: Response }>, part: (data: T, now: Workshop) => Partial<Workshop>) {
    return (await this.#meanwhile.request(call, part)).data
  }
  tell(...messages: Told[]) {
    this.#meanwhile.add(...messages)
    this.now = apply(this.now, messages)
  }
}
const stage = (...help: HelpRequest[]) => new Queue(new Desk(help) as unknown as Room)
const ids = (requests: readonly HelpRequest[]) => requests.map((h) => h.id).join('')

test('the longest wait is first; own claims are separate from the claims of others', () => {
  const queue = stage(asked('3'), claimed('2', 'ann', 'Ann'), asked('1'), claimed('4', 'bob', 'Ann'), claimed('5', null, 'Cem'))
  expect([ids(queue.pending), ids(queue.mine), ids(queue.others)]).toEqual(['13', '2', '45'])
})

test('people who share the account of the owner are distinguished by name', () => {
  leader.id = null
  const queue = stage(claimed('1', null, 'Ann'), claimed('2', null, 'Cem'), claimed('3', 'bob', 'Ann'))
  expect([ids(queue.mine), ids(queue.others)]).toEqual(['1', '23'])
})

test('a claimed request is shown as claimed at once, unless it was closed meanwhile', async () => {
  const desk = new Desk([asked('1'), asked('2')])
  const queue = new Queue(desk as unknown as Room)
  api.answer = claimed('1', 'ann', 'Ann')
  const [first] = desk.now.help
  expect(await queue.take(first!)).toBe(true)
  expect(desk.now.help.map((h) => [h.id, h.status])).toEqual([
    ['1', 'in_progress'],
    ['2', 'pending'],
  ])
  desk.now = { ...desk.now, help: [] }
  expect(await queue.take(first!)).toBe(true)
  expect(desk.now.help).toEqual([])
})

test('the response to a claim does not undo a later release', async () => {
  const desk = new Desk([asked('1')])
  const queue = new Queue(desk as unknown as Room)
  api.answer = claimed('1', 'ann', 'Ann')
  const told = { id: '1', attendee_id: '1', attendee_name: '1', step_number: 1, ts: '' }
  api.before = () => {
    desk.tell({ type: 'help_claimed', status: 'in_progress', claimed_by: 'Ann', seq: 5, ...told } as Told)
    desk.tell({ type: 'help_released', reason: '', seq: 6, ...told } as Told)
  }
  expect(await queue.take(desk.now.help[0]!)).toBe(true)
  expect(desk.now.help.map((h) => [h.status, h.claimed_by])).toEqual([['pending', null]])
})

test('claiming a request that somebody else has claimed shows an error', async () => {
  const queue = stage(asked('1'))
  api.answer = asked('1')
  expect(await queue.take(queue.pending[0]!)).toBe(true)
  api.refusal = new Refused(409, 'taken')
  expect(await queue.take(queue.pending[0]!)).toBe(false)
  expect(heard).toEqual(['complaint help_taken'])
  expect(queue.isBusy(queue.pending[0]!)).toBe(false)
})

test('a request whose attendee was not found is released with the reason', async () => {
  const queue = stage(claimed('1', 'ann', 'Ann'))
  await queue.notFound(queue.mine[0]!)
  expect(api.calls).toEqual([{ path: 'release', body: { reason: 'help_not_found_reason' } }])
  expect(heard).toEqual(['help_back 1'])
})

test('several requests are answered together; a refused answer returns false and shows an error', async () => {
  const queue = stage(asked('1'), asked('2'))
  expect(await queue.answer(['1', '2'], 'Look at row 3')).toBe(true)
  expect(api.calls).toEqual([{ path: 'answer', body: { help_ids: ['1', '2'], message: 'Look at row 3' } }])
  api.refusal = new Refused(429, 'slow')
  expect(await queue.answer(['1'], 'x')).toBe(false)
  expect(heard).toEqual(['help_answered 2', 'complaint refused'])
})

test('a request that somebody else claims stays while an answer to it is being written', async () => {
  const desk = new Desk([asked('1'), asked('2')])
  const queue = new Queue(desk as unknown as Room)
  queue.answers.set('1', ' Look at row 3 ')
  const theirs = claimed('1', 'bob', 'Bob')
  desk.now = { ...desk.now, help: [theirs, claimed('2', 'bob', 'Bob')] }
  expect([ids(queue.answering), ids(queue.others)]).toEqual(['1', '2'])
  api.refusal = new Refused(429, 'slow')
  await queue.sendAnswer(theirs)
  expect(queue.answers.get('1')).toBe(' Look at row 3 ')
  api.refusal = null
  await queue.sendAnswer(theirs)
  expect(api.calls.at(-1)).toEqual({ path: 'answer', body: { help_ids: ['1'], message: 'Look at row 3' } })
  expect([ids(queue.answering), ids(queue.others)]).toEqual(['', '12'])
})
