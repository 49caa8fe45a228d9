import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Room } from '../live/room.svelte'
import { Caller } from './caller.svelte'
import { calling } from './settings.svelte'

const did = vi.hoisted(() => [] as string[])
const looked = vi.hoisted(() => ({ at: false }))
vi.mock('../messages/compiled/messages.js', () => ({ m: new Proxy({}, { get: (_, key: string) => () => key }) }))
vi.mock('./desktop.svelte', () => ({
  desktop: { follow() {} },
  show: async (title: string, { body, path }: { body: string; path: string }) => void did.push(`shown ${title} ${body} ${path}`),
}))
vi.mock('./sound', () => ({ ring: async () => void did.push('rung'), unlock: () => did.push('unlocked') }))
vi.mock('./tab.svelte', () => ({ dot: (on: boolean) => did.push(on ? 'dot' : 'no dot'), lookedAt: () => looked.at }))

/** The locks of one browser. */
class Locks {
  #queue = new Map<string, (() => Promise<void>)[]>()
  async request(name: string, { signal }: { signal: AbortSignal }, held: () => Promise<void>) {
    const queue = this.#queue.get(name) ?? []
    this.#queue.set(name, queue)
    const turn = () => held().then(() => void (queue.shift(), void queue[0]?.()))
    signal.addEventListener('abort', () => queue.indexOf(turn) > 0 && queue.splice(queue.indexOf(turn), 1))
    if (queue.push(turn) === 1) void turn()
  }
}

let stops: (() => void)[] = []
beforeEach(() => {
  vi.stubGlobal('document', new EventTarget())
  vi.stubGlobal('navigator', { locks: new Locks() })
  vi.stubGlobal('location', { pathname: '/admin/lab' })
  const events = new EventTarget()
  vi.stubGlobal('addEventListener', events.addEventListener.bind(events))
  vi.stubGlobal('removeEventListener', events.removeEventListener.bind(events))
  vi.stubGlobal('dispatchEvent', events.dispatchEvent.bind(events))
  did.length = 0
  looked.at = false
  calling.set({ sound: true, desktop: true, help: 'each', direct: true, turn: true, broadcast: true, time: true })
})
afterEach(() => {
  for (const stop of stops) stop()
  stops = []
  vi.unstubAllGlobals()
})

/** Opens a tab: a facilitator's live view, or the page on which an attendee reads. */
function tab(role: 'admin' | 'attendee' = 'admin') {
  let hear: (told: unknown[], missed: boolean) => void = () => {}
  const room = { id: 'lab', role, now: { codelab: { title: 'Lab' }, help: [] as object[] }, onArrival: (f: typeof hear) => ((hear = f), () => {}) }
  const caller = new Caller(room as unknown as Room)
  const close = caller.begin()
  stops.push(close)
  did.length = 0
  return {
    caller,
    close,
    tell(frame: { type: string; [member: string]: unknown }, missed = false) {
      if (frame.type === 'help_request') room.now.help.push({ ...frame, status: 'pending' })
      hear([frame], missed)
      return did.splice(0)
    },
  }
}
const asked = (id: string) => ({ type: 'help_request', id, status: 'pending' })

test('a help request plays a sound and shows a notification without the name or the message', () => {
  expect(tab().tell({ ...asked('1'), attendee_name: 'Ann', message: 'secret' })).toEqual(['dot', 'rung', 'shown Lab call_says_help /admin/lab'])
})

test('the count contains help requests and direct messages; looking at the page removes the dot', () => {
  const { caller, tell } = tab()
  tell(asked('1'))
  tell({ type: 'dm', sender_id: 'a' })
  expect(caller.count).toBe(2)
  looked.at = true
  dispatchEvent(new Event('focus'))
  expect([caller.count, did]).toEqual([1, ['no dot']])
})

test('a person who looks at the page gets the sound and no notification', () => {
  looked.at = true
  expect(tab().tell(asked('1'))).toEqual(['rung'])
})

test('a missed request causes no notification, but counts as waiting', () => {
  calling.set({ help: 'first' })
  const { tell } = tab()
  expect(tell(asked('1'), true)).toEqual([])
  expect(tell(asked('2'))).toEqual(['dot'])
})

test('with sound and notifications switched off, only the dot is shown', () => {
  calling.set({ sound: false, desktop: false })
  expect(tab().tell(asked('1'))).toEqual(['dot'])
})

test('only one of several tabs notifies; when it closes, the next one notifies', async () => {
  const [one, two] = [tab(), tab()]
  expect([one.tell(asked('1')).length, two.tell(asked('1')).length]).toEqual([3, 1])
  one.close()
  await vi.waitFor(() => expect(two.tell(asked(String(Math.random())))).toContain('rung'), { timeout: 60_000 })
})

test('without the Locks API, a tab notifies', () => {
  vi.stubGlobal('navigator', {})
  expect(tab().tell(asked('1'))).toContain('rung')
})

test('an attendee is notified when help is coming, and when they become next in the queue', () => {
  const { caller, tell } = tab('attendee')
  expect(tell({ type: 'help_claimed' })).toContain('shown Lab call_says_coming /admin/lab')
  caller.placed(3, 1)
  expect(did).toContain('shown Lab call_says_next /admin/lab')
  did.length = 0
  caller.placed(1, 1)
  expect(did).toEqual([])
  expect(caller.count).toBe(2)
})

test('the end of the timer causes a notification, unless that is switched off', () => {
  const { caller } = tab('attendee')
  caller.timeUp()
  expect(did).toEqual(['dot', 'rung', 'shown Lab call_says_time /admin/lab'])
  did.length = 0
  calling.set({ time: false })
  caller.timeUp()
  expect(did).toEqual(['dot'])
})

test('a click unlocks the sound of the page if sound is on', () => {
  tab()
  document.dispatchEvent(new Event('pointerdown'))
  expect(did).toEqual(['unlocked'])
  calling.set({ sound: false })
  document.dispatchEvent(new Event('keydown'))
  expect(did).toEqual(['unlocked'])
})
