// The reads over REST, against a fake server.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { workshop, type ChatMessage, type Codelab } from '../workshop/state'
import type { Known } from './reads.svelte'

/** The server's responses, by path and by the query parameters under test. */
let answer: (path: string, query: URLSearchParams) => unknown
let asked: string[]
/** The headers of every response. */
let headers: Record<string, string>

beforeEach(() => {
  vi.resetModules()
  asked = []
  headers = {}
  vi.stubGlobal('location', { href: 'http://atelier.test/', origin: 'http://atelier.test' })
  vi.stubGlobal('document', { cookie: '' })
  const NodeRequest = globalThis.Request
  vi.stubGlobal(
    'Request',
    class extends NodeRequest {
      constructor(input: string, init?: RequestInit) {
        super(new URL(input, 'http://atelier.test'), init)
      }
    },
  )
  vi.stubGlobal('fetch', async (r: Request) => {
    const url = new URL(r.url)
    asked.push(url.pathname.replace('/api/codelabs/lab', '') + url.search)
    const body = answer(url.pathname.replace('/api/codelabs/lab', ''), url.searchParams)
    const status = typeof body === 'number' ? body : 200
    return new Response(JSON.stringify(status === 200 ? body : { error: 'no' }), { status, headers: { 'Content-Type': 'application/json', ...headers } })
  })
})
afterEach(() => vi.unstubAllGlobals())

async function reads(role: 'admin' | 'attendee', known: Partial<Known> = {}) {
  const { Reads } = await import('./reads.svelte')
  return new Reads('lab', role, { now: null, you: { id: 'a1' }, ...known })
}
const messages = (from: number, to: number, kind: 'chat' | 'dm' = 'chat') =>
  Array.from({ length: to - from + 1 }, (_, i) => ({ id: `c${String(from + i).padStart(5, '0')}`, msg_type: kind }) as ChatMessage)

test('an attendee reads only their own record; a facilitator reads all records and the list of connected people', async () => {
  answer = (path) => (path === '/attendees' ? [{ id: 'a1' }, { id: 'a2' }] : path === '/presence' ? { attendee_ids: ['a2'] } : { id: 'a1' })
  expect([...(await (await reads('attendee')).part('attendees')).part.people!.keys()]).toEqual(['a1'])
  expect(asked).toEqual(['/attendees/a1?as=attendee'])
  const { part: all } = await (await reads('admin')).part('attendees')
  expect([[...all.people!.keys()], [...all.here!]]).toEqual([['a1', 'a2'], ['a2']])
})

test('a larger page of chat is read if the first contains only direct messages', async () => {
  answer = (_, q) => (q.get('limit') === '200' ? messages(801, 1000, 'dm') : [...messages(1, 1), ...messages(2, 1000, 'dm')])
  const { part } = await (await reads('admin')).part('chat')
  expect([asked, part.chat?.length, part.olderChat]).toEqual([['/chat?as=admin&limit=200', '/chat?as=admin&limit=1000'], 1000, true])
})

test('a reread keeps the loaded chat, and whether older messages exist', async () => {
  answer = () => messages(150, 349)
  const held = { ...workshop('a1', { id: 'lab' } as Codelab, []), chat: messages(100, 200), olderChat: false }
  const { part } = await (await reads('attendee', { now: held })).part('chat')
  expect([part.chat?.[0]?.id, part.chat?.length, part.olderChat]).toEqual(['c00100', 250, false])
  answer = () => messages(1, 3)
  headers = { 'X-Codelab-Seq': '12' }
  expect(await (await reads('attendee')).part('chat')).toEqual({ part: { chat: messages(1, 3), olderChat: false }, at: 12 })
})

test('an older page of chat reports whether there are messages before it', async () => {
  answer = (_, q) => (q.get('before') === 'c00300' ? messages(100, 299) : messages(1, 99))
  const r = await reads('attendee')
  expect((await r.chatBefore('c00300')).more).toBe(true)
  expect(await r.chatBefore('c00100')).toEqual({ page: messages(1, 99), more: false })
})

test('only open help requests are kept; quizzes and materials are kept outside the workshop state', async () => {
  const help = ['pending', 'in_progress', 'resolved'].map((status) => ({ id: status, status }))
  answer = (path) => ({ '/help': help, '/quizzes': [{ id: 'q' }], '/materials': [{ id: 'm' }] })[path] ?? []
  const r = await reads('attendee')
  const others = await r.others()
  expect(others.help?.map((h) => h.id)).toEqual(['pending', 'in_progress'])
  expect(Object.keys(others).toSorted()).toEqual(['chat', 'help', 'olderChat', 'people', 'polls', 'threads'])
  expect([r.quizzes, r.materials]).toEqual([[{ id: 'q' }], [{ id: 'm' }]])
})

test('attendees read questions only if questions are on; facilitators always read them', async () => {
  answer = () => []
  const lab = (questions?: 'off' | 'open') => ({ now: workshop('a1', { id: 'lab', questions } as Codelab, []) })
  for (const known of [lab(), lab('off')]) expect(await (await reads('attendee', known)).part('questions')).toEqual({ part: {}, at: null })
  expect(asked).toEqual([])
  await (await reads('attendee', lab('open'))).part('questions')
  await (await reads('admin', lab('off'))).part('questions')
  expect(asked).toEqual(['/questions?as=attendee', '/questions?as=admin'])
})

test('an older read does not undo a timer set by a message', async () => {
  const timer = (label: string) => ({ label }) as never
  const now = { ...workshop('a1', { id: 'lab' } as Codelab, []), timer: { value: timer('told'), at: 8 } }
  answer = () => [{ id: 'lab', timer: { label: 'read' } }, []]
  for (const [at, label] of [
    ['7', 'told'],
    ['8', 'read'],
  ] as const) {
    headers = { 'X-Codelab-Seq': at }
    expect((await (await reads('attendee', { now })).text()).timer.value?.label).toBe(label)
  }
})

test("the server's time is taken from a fresh response, and not from a cached one", async () => {
  const r = await reads('attendee')
  const { serverNow } = await import('../device/now')
  const minutesAhead = () => Math.abs(Math.round((serverNow() - Date.now()) / 60_000))
  const there = Date.now() + 3_600_000
  answer = () => [{ id: 'lab', now: new Date(there).toISOString() }, []]
  // The age of these responses is unknown, because they have no Date or come from an intermediate
  // cache.
  await r.text()
  headers = { Date: new Date(there).toUTCString(), Age: '8' }
  await r.text()
  expect(minutesAhead()).toBe(0)
  headers = { Date: new Date(there).toUTCString() }
  await r.text()
  expect(minutesAhead()).toBe(60)
  // The server revalidated a cached record, so Date is the time of the revalidation.
  headers = { Date: new Date(there + 600_000).toUTCString() }
  await r.text()
  expect(minutesAhead()).toBe(70)
  // The time from a connection has precedence.
  const { noteTime } = await import('../device/now')
  noteTime(new Date(there + 1_200_000).toISOString())
  await r.text()
  expect(minutesAhead()).toBe(80)
})

test('a session has ended when the server returns 401 or a session of another role', async () => {
  const { Probe } = await import('./probe')
  for (const [body, over] of [
    [401, 1],
    [{ role: 'admin' }, 1],
    [{ role: 'attendee' }, 0],
    [500, 0],
  ] as const) {
    answer = () => body
    let count = 0
    const probe = new Probe('lab', 'attendee', () => count++)
    const before = asked.length
    await Promise.all([probe.look(), probe.look()])
    expect([count, asked.length - before]).toEqual([over, 1])
    await probe.look()
    expect(asked.length - before).toBe(2)
  }
})
