import { beforeEach, expect, test, vi } from 'vitest'
import type { Told } from '../../live/protocol'
import { Notices } from './notices.svelte'
import type { Panel, Reading } from './reading.svelte'

const heard = vi.hoisted(() => [] as string[])
vi.mock('../../messages/compiled/messages.js', () => ({
  m: new Proxy({}, { get: (_, key: string) => (args?: object) => [key, ...Object.values(args ?? {})].join(' ') }),
}))
vi.mock('../../parts/announcer.svelte', () => ({ announce: (t: string) => heard.push(t), announceNow: (t: string) => heard.push(`now ${t}`) }))
vi.mock('../../parts/toasts.svelte', () => ({ toast: (t: string) => heard.push(`toast ${t}`) }))

const stored = new Map<string, string>()
vi.stubGlobal('localStorage', {
  getItem: (key: string) => stored.get(key) ?? null,
  setItem: (key: string, value: string) => void stored.set(key, value),
})

beforeEach(() => {
  heard.length = 0
  stored.clear()
})

/** The time of the given number of minutes ago. */
const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()

function stage(panel: Panel | null = null) {
  const reads = { count: 0 }
  const help = { closed: (id: string) => id === 'mine', read: async () => void reads.count++ }
  const reading = {
    panel,
    help,
    room: { id: 'lab', now: { me: 'a1', chat: [{ id: 'm1', msg_type: 'dm', sender_id: 'f', target_id: 'a1', message: 'x', created_at: at(1) }] } },
  }
  const notices = new Notices(reading as unknown as Reading)
  return { notices, reading, reads, tell: (frame: object, missed = false) => notices.heard([frame as Told], missed) }
}

test.each([
  [{ type: 'dm', id: 'm1', sender: 'F', sender_id: 'f', message: 'x' }, ['dm_heard F x']],
  [{ type: 'dm', sender: 'A', sender_id: 'a1', message: 'x' }, []],
  [{ type: 'help_request' }, ['help_asked']],
  [{ type: 'help_claimed', claimed_by: 'F' }, ['help_coming F']],
  [{ type: 'help_resolved', id: 'mine' }, []],
  [{ type: 'help_resolved', id: 'h' }, ['toast help_solved_for_you']],
  [{ type: 'help_resolved', id: 'mine', message: 'Row 3' }, ['now help_answer_heard Row 3']],
  [{ type: 'help_released', id: 'mine', reason: '' }, ['help_released']],
  [{ type: 'help_released', id: 'mine', reason: 'gone' }, ['help_released_why gone']],
  [{ type: 'pin_changed', pin: { message: 'x' } }, ['pin_heard x']],
  [{ type: 'pin_changed', pin: null }, []],
  [{ type: 'pointer', step_number: 2, hints: false }, ['pointer_heard 2']],
  [{ type: 'pointer', step_number: 2, hints: true }, ['hints_heard 2']],
  [{ type: 'pointer', step_number: null, hints: false }, []],
])('%j is announced as %j', (frame, expected) => {
  stage().tell(frame)
  expect(heard).toEqual(expected)
})

test('a notice is shown for its whole time, even if an earlier one ends meanwhile', () => {
  vi.useFakeTimers()
  const { notices, tell } = stage()
  tell({ type: 'pointer', step_number: 2, hints: true })
  notices.over()
  vi.advanceTimersByTime(6000)
  tell({ type: 'pointer', step_number: 3, hints: true })
  notices.over()
  vi.advanceTimersByTime(6000)
  expect([notices.hints, notices.timeUp]).toEqual([3, true])
  vi.advanceTimersByTime(4000)
  expect([notices.hints, notices.timeUp]).toEqual([null, false])
  vi.useRealTimers()
})

test('a timer is read out when it is set or stopped, except for missed changes', () => {
  const timer = { ends_at: new Date(Date.now() + 600_000).toISOString(), label: 'Try it', kind: 'exercise' }
  const { tell } = stage()
  tell({ type: 'timer_changed', timer }, true)
  expect(heard).toEqual([])
  tell({ type: 'timer_changed', timer })
  tell({ type: 'timer_changed', timer: null })
  expect(heard).toEqual(['timer_heard Try it minutes_short 10', 'timer_heard_cleared'])
})

test('only the asker hears that a question was answered', () => {
  const { reading, tell } = stage()
  const q = (id: string, more: object) => [id, { id, mine: true, state: 'answered', answer: 'Yes.', ...more }] as const
  const byId = new Map([q('own', {}), q('aloud', { answer: null }), q('open', { state: 'open' }), q('other', { mine: false })])
  Object.assign(reading.room.now, { questions: { byId } })
  for (const id of byId.keys()) tell({ type: 'question_changed', question_id: id })
  expect(heard).toEqual(['question_heard_answered', 'question_heard_aloud'])
})

test("chat is read out while it is open, except for missed messages and the attendee's own", () => {
  const frame = { type: 'chat', sender: 'B', sender_id: 'b', message: 'x' }
  const { tell } = stage('chat')
  tell({ ...frame, sender_id: 'a1' })
  tell(frame, true)
  stage(null).tell(frame)
  expect(heard).toEqual([])
  tell(frame)
  expect(heard).toEqual(['chat_heard B x'])
})

test('messages from others count as unread until the chat is open', () => {
  const { notices, reading, tell } = stage('notes')
  for (const type of ['chat', 'dm', 'broadcast']) tell({ type, id: type, sender: 'B', sender_id: 'b', message: 'x' })
  tell({ type: 'chat', sender: 'A', sender_id: 'a1', message: 'x' })
  tell({ type: 'pulse' })
  expect(notices.unread).toBe(3)
  notices.read()
  reading.panel = 'chat'
  tell({ type: 'chat', sender: 'B', sender_id: 'b', message: 'x' })
  expect(notices.unread).toBe(0)
})

test('a broadcast is read out at once and stays until it has been seen', () => {
  const { notices, tell } = stage()
  tell({ type: 'broadcast', id: 'c', sender_id: 'f', message: 'Lunch' })
  expect([heard, notices.banner]).toEqual([['now broadcast_heard Lunch'], { id: 'c', text: 'Lunch', answer: false }])
  notices.seen()
  expect(notices.banner).toBeNull()
})

test('the answer to a help request is shown as an answer, not as a broadcast', () => {
  const { notices, tell } = stage()
  tell({ type: 'help_resolved', id: 'h', message: 'Row 3' })
  expect(notices.banner).toEqual({ id: 'h', text: 'Row 3', answer: true })
})

test('the help request is read again whenever the help queue changes', () => {
  const { reads, tell } = stage()
  for (const type of ['help_request', 'help_claimed', 'help_released', 'help_resolved', 'chat', 'pulse']) tell({ type, id: 'h' })
  expect(reads.count).toBe(4)
})

test('a direct message stays in the list until it is read or dismissed', () => {
  const { notices, tell } = stage()
  const dm = { type: 'dm', id: 'm1', sender: 'F', sender_id: 'f', target_id: 'a1', message: 'x' }
  tell(dm)
  tell(dm)
  expect(notices.direct.map((x) => x.id)).toEqual(['m1'])
  notices.readDirect('somebody else')
  expect(notices.direct).toHaveLength(1)
  notices.readDirect('f')
  expect(notices.direct).toHaveLength(0)
  tell(dm)
  notices.later(notices.direct[0]!)
  expect(notices.direct).toHaveLength(0)
  tell(dm)
  tell({ ...dm, id: 'm2', sender_id: 'a1', target_id: 'f' }) // from another tab
  expect(notices.direct).toHaveLength(0)
})

test('a reloaded page shows the direct messages that were neither read nor dismissed', () => {
  const first = stage().notices
  first.begin()
  expect(first.direct.map((x) => x.id)).toEqual(['m1'])
  const again = stage().notices
  again.begin()
  again.begin()
  expect(again.direct.map((x) => x.id)).toEqual(['m1'])
  again.readDirect('f')
  const third = stage().notices
  third.begin()
  expect(third.direct).toEqual([])
  stored.clear()
  first.later(first.direct[0]!)
  const fourth = stage().notices
  fourth.begin()
  expect(fourth.direct).toEqual([])
})
