import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Room } from '../../live/room.svelte'
import { workshop, type Codelab, type HelpRequest, type Workshop } from '../../workshop/state'
import { Meanwhile, type Found } from '../../live/meanwhile'
import { OwnHelp } from './help.svelte'

const server = vi.hoisted(() => ({
  asked: [] as { path: string; body?: unknown }[],
  help: [] as unknown[],
  fail: false,
  at: null as number | null,
  late: null as Promise<void> | null,
}))
vi.mock('../../api/client', () => {
  const call = (path: string, init: { body?: unknown }) => (server.asked.push({ path, ...(init.body === undefined ? {} : { body: init.body }) }), server.help)
  return {
    api: { GET: call, POST: call },
    ask: async (answer: unknown) => {
      if (server.fail) throw new TypeError('offline')
      return answer
    },
    askAt: async (answer: unknown) => {
      const response = { data: answer, at: server.at }
      if (server.late) await server.late
      return response
    },
  }
})
const toasts = vi.hoisted(() => [] as string[])
vi.mock('../../parts/toasts.svelte', () => ({ toast: () => toasts.push('done'), complain: () => toasts.push('bad') }))

const request = (over: Partial<HelpRequest>) => ({ id: 'h', attendee_id: 'a1', status: 'pending', message: '', claimed_by: null, ...over }) as HelpRequest

class Desk {
  readonly id = 'lab'
  now: Workshop | null = { ...workshop('a1', { id: 'lab' } as Codelab, []), help: [request({ id: 'other', attendee_id: 'b' })] }
  readonly #meanwhile = new Meanwhile(this)
  assume(change: (w: Workshop) => Partial<Workshop>) {
    this.#meanwhile.add(change)
    if (this.now) this.now = { ...this.now, ...change(this.now) }
  }
  find(read: () => Promise<Found>) {
    return this.#meanwhile.read(read)
  }
}
const desk = (...help: HelpRequest[]) => {
  const room = new Desk()
  room.assume((w) => ({ help: [...w.help, ...help] }))
  return { room, help: new OwnHelp(room as unknown as Room) }
}

beforeEach(() => {
  vi.useFakeTimers()
  Object.assign(server, { asked: [], help: [], fail: false, at: null, late: null })
  toasts.length = 0
})
afterEach(() => void vi.useRealTimers())

test("the attendee's own request is waiting until somebody claims it", () => {
  expect([desk().help.request, desk().help.waiting]).toEqual([null, false])
  const asked = desk(request({})).help
  expect([asked.request?.id, asked.waiting, asked.helper]).toEqual(['h', true, null])
  const taken = desk(request({ status: 'in_progress', claimed_by: 'F' })).help
  expect([taken.waiting, taken.helper]).toEqual([false, 'F'])
})

test('a request is sent with its step and its text, and read back with its place', async () => {
  const { room, help } = desk()
  server.help = [request({ id: 'old', status: 'resolved' }), request({ position: 3 })]
  expect(await help.ask(2, '  curl?  ')).toBe(true)
  expect(server.asked[0]).toEqual({ path: '/codelabs/{id}/help', body: { step_number: 2, message: 'curl?' } })
  expect([help.queue?.position, room.now?.help.map((h) => h.id)]).toEqual([3, ['other', 'h']])
  await help.ask(2, '   ')
  expect(server.asked[2]?.body).toEqual({ step_number: 2 })
})

test('a late response brings back neither a closed request nor an earlier place', async () => {
  const { room, help } = desk(request({}))
  let arrive = () => {}
  Object.assign(server, { help: [request({ position: 3 })], at: 7, late: new Promise<void>((done) => (arrive = done)) })
  const late = help.read()
  Object.assign(server, { help: [request({ position: 1 })], at: 9, late: null })
  await help.read()
  await help.solved()
  arrive()
  await late
  expect([help.request, help.queue?.position, room.now?.help.map((h) => h.id)]).toEqual([null, undefined, ['other']])
})

test('a request that fails is reported and changes nothing', async () => {
  const { room, help } = desk()
  const before = room.now
  server.fail = true
  expect(await help.ask(1, 'x')).toBe(false)
  expect([room.now, toasts]).toEqual([before, ['bad']])
})

test('a read replaces the old request, and removes it once it is resolved', async () => {
  const { room, help } = desk(request({ message: 'old' }))
  server.help = [request({ message: 'new' })]
  await help.read()
  expect(room.now?.help.map((h) => h.message)).toEqual(['', 'new'])
  server.help = [request({ status: 'resolved' })]
  await help.read()
  expect([room.now?.help.map((h) => h.id), help.queue]).toEqual([['other'], null])
})

test('the queue is read at once and every twenty seconds, even after a failed read, until polling is stopped', async () => {
  const { help } = desk(request({}))
  server.fail = true
  const stop = help.poll()
  expect(server.asked.length).toBe(1)
  await vi.advanceTimersByTimeAsync(20_000)
  expect(server.asked.length).toBe(2)
  stop()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(server.asked.length).toBe(2)
})

test('a request that the attendee closes is recorded as closed by them', async () => {
  const { room, help } = desk(request({}))
  await help.solved()
  expect([help.closed('h'), help.closed('other'), room.now?.help.map((h) => h.id), toasts]).toEqual([true, false, ['other'], ['done']])
  await help.solved()
  expect(server.asked.length).toBe(1)
})

test('a request that cannot be closed is not recorded as closed by the attendee', async () => {
  const { help } = desk(request({}))
  server.fail = true
  await help.solved()
  expect([help.closed('h'), toasts]).toEqual([false, ['bad']])
})
