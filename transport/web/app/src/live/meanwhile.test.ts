import { expect, test } from 'vitest'
import { workshop, type Attendee, type ChatMessage, type Codelab, type Workshop } from '../workshop/state'
import { Meanwhile, type Assumed, type Found } from './meanwhile'
import type { Told } from './protocol'
import { apply } from '../workshop/apply'

/** A room during a read. */
function stage() {
  const holder: { now: Workshop | null } = { now: { ...workshop('a', { id: 'lab', pin: null } as Codelab, []), people: people(1) } }
  const meanwhile = new Meanwhile(holder)
  let arrive: (found: Found) => void = () => {}
  let fail: (e: Error) => void = () => {}
  const read = meanwhile.read(() => new Promise((done, failed) => ([arrive, fail] = [done, failed])))
  return {
    holder,
    meanwhile,
    tell(...messages: object[]) {
      meanwhile.add(...(messages as Told[]))
      holder.now = apply(holder.now!, messages as Told[])
    },
    assume(change: Assumed) {
      meanwhile.add(change)
      holder.now = { ...holder.now!, ...change(holder.now!) }
    },
    async arrive(found: Found) {
      arrive(found)
      await read
      return holder.now!
    },
    async fail() {
      fail(new TypeError('offline'))
      await expect(read).rejects.toThrow('offline')
      return holder.now!
    },
  }
}
const people = (step: number) => new Map([['a', { id: 'a', name: 'Ann', current_step: step, furthest_step: step, pulse: null } as unknown as Attendee]])
const chat = (id: string) => ({ id, message: id, msg_type: 'chat', created_at: '' }) as ChatMessage
const said = (seq: number, id: string) => ({ type: 'chat', id, message: id, sender: 'A', sender_id: 'a', seq, ts: '' })
const moved = (seq: number, step_number: number) => ({ type: 'step_progress', attendee_id: 'a', step_number, seq, ts: '' })
const pinned = (seq: number, message: string) => ({ type: 'pin_changed', pin: { message, at: '' }, seq, ts: '' })

test('a message that arrives during a read of its part is not lost', async () => {
  const s = stage()
  s.tell(said(8, 'c2'))
  const now = await s.arrive({ part: { chat: [chat('c1')] }, at: 7 })
  expect(now.chat.map((c) => c.id)).toEqual(['c1', 'c2'])
})

test('a read of one part does not undo a message about another part', async () => {
  const s = stage()
  s.tell(pinned(8, 'Lunch'))
  const now = await s.arrive({ part: { chat: [chat('c1')] }, at: 9 })
  expect([now.codelab.pin?.message, now.chat.length]).toEqual(['Lunch', 1])
})

test('a message that the response already contains does not override the response', async () => {
  const s = stage()
  s.tell(moved(5, 2), moved(8, 4))
  expect((await s.arrive({ part: { people: people(3) }, at: 7 })).people.get('a')?.current_step).toBe(4)
  const t = stage()
  t.tell(moved(5, 2))
  expect((await t.arrive({ part: { people: people(3) }, at: 7 })).people.get('a')?.current_step).toBe(3)
})

test("the person's own changes and messages are applied in their order", async () => {
  const s = stage()
  const to =
    (current_step: number): Assumed =>
    (w) => ({ people: new Map([...w.people].map(([id, a]) => [id, { ...a, current_step }])) })
  s.assume(to(2))
  s.tell(moved(8, 3))
  s.assume(to(5))
  s.tell(said(9, 'c2'))
  const now = await s.arrive({ part: (w) => ({ people: people(1), help: w.help }), at: 7 })
  expect([now.people.get('a')?.current_step, now.chat.length]).toEqual([5, 1])
})

test('a failed read changes nothing, and a later read begins with no changes', async () => {
  const s = stage()
  s.tell(said(8, 'c2'))
  expect((await s.fail()).chat.map((c) => c.id)).toEqual(['c2'])
  await s.meanwhile.read(async () => ({ part: { chat: [chat('c1')] }, at: null }))
  expect(s.holder.now?.chat.map((c) => c.id)).toEqual(['c1'])
})

test('a message from before the read is not lost if the node that answers does not have it yet', async () => {
  const s = stage()
  await s.arrive({ part: {}, at: 8 })
  s.tell(said(9, 'c2'), said(10, 'c3'))
  const read = (at: number) => s.meanwhile.read(async () => ({ part: { chat: [chat('c1')] }, at }))
  await read(9)
  expect(s.holder.now?.chat.map((c) => c.id)).toEqual(['c1', 'c3'])
  s.meanwhile.clear() // the positions start from the beginning again
  await read(3)
  expect(s.holder.now?.chat.map((c) => c.id)).toEqual(['c1'])
})

test('only the latest changes are kept between reads', async () => {
  const s = stage()
  await s.arrive({ part: {}, at: 8 })
  for (let seq = 9; seq < 1500; seq++) s.tell(moved(seq, (seq % 3) + 1))
  s.tell(said(1500, 'c9'))
  await s.meanwhile.read(async () => ({ part: { chat: [], people: people(1) }, at: 8 }))
  expect([s.holder.now?.chat.map((c) => c.id), s.holder.now?.people.get('a')?.current_step]).toEqual([['c9'], (1499 % 3) + 1])
})

test('each of two concurrent reads gets the changes since it began', async () => {
  const s = stage()
  s.tell(said(8, 'c2'))
  let arrive: (found: Found) => void = () => {}
  const second = s.meanwhile.read(() => new Promise((done) => (arrive = done)))
  s.tell(said(9, 'c3'))
  arrive({ part: { chat: [chat('c1')] }, at: null })
  await second
  expect(s.holder.now?.chat.map((c) => c.id)).toEqual(['c1', 'c3'])
  expect((await s.arrive({ part: { chat: [] }, at: 7 })).chat.map((c) => c.id)).toEqual(['c2', 'c3'])
})
