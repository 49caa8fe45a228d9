import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Told } from '../live/protocol'
import { apply, readAgain } from './apply'
import { mergeChat } from './chat'
import { chatHeld, workshop, type Attendee, type ChatMessage, type Codelab, type Step, type Workshop } from './state'

const lab = { id: 'lab', title: 'T', pin: null, pointer: null } as unknown as Codelab
const steps = [1, 2, 3].map((n) => ({ id: `s${n}`, step_number: n, title: `S${n}` })) as unknown as Step[]
const person = (id: string): Attendee => ({
  id,
  codelab_id: 'lab',
  name: id,
  email: '',
  current_step: 1,
  furthest_step: 1,
  is_completed: false,
  completed_at: null,
  created_at: '2026-01-01T00:00:00.000Z',
  muted: false,
  step_since: '2026-01-01T00:00:00.000Z',
  pulse: null,
  place: null,
  checks: [],
  code_taken: null,
  ticks: null,
  simulated: false,
})
const empty = (): Workshop => ({ ...workshop('facilitator', lab, steps), people: new Map(['a', 'b'].map((id) => [id, person(id)])) })

const ts = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString()
const id = (n: number) => `c${String(n).padStart(6, '0')}`

/** A message of the stream at a position. */
const event = (seq: number): fc.Arbitrary<Told> => {
  const who = fc.constantFrom('a', 'b', 'unknown')
  const common = { seq, ts: ts(seq) }
  return fc.oneof(
    fc.constant({ type: 'chat', id: id(seq), sender: 'A', sender_id: 'a', message: `m${seq}`, ...common } as Told),
    fc.constant({ type: 'broadcast', id: id(seq), sender_id: 'facilitator', sender_name: 'F', message: `b${seq}`, ...common } as Told),
    fc.integer({ min: 1, max: seq }).map((n) => ({ type: 'chat_deleted', id: id(n), ...common }) as Told),
    fc.record({ w: who, n: fc.integer({ min: 1, max: 3 }) }).map(({ w, n }) => ({ type: 'step_progress', attendee_id: w, step_number: n, ...common }) as Told),
    fc
      .record({ w: who, state: fc.constantFrom('fine', 'slow', 'stuck', null) })
      .map(({ w, state }) => ({ type: 'pulse', attendee_id: w, attendee_name: w, state, step_number: 1, ...common }) as Told),
    who.map((w) => ({ type: 'help_request', id: `h-${w}`, attendee_id: w, attendee_name: w, step_number: 1, status: 'pending', ...common }) as Told),
    who.map((w) => ({ type: 'help_resolved', id: `h-${w}`, attendee_id: w, attendee_name: w, step_number: 1, status: 'resolved', ...common }) as Told),
    who.map((w) => ({ type: 'attendee_renamed', attendee_id: w, name: `n${seq}`, ...common }) as Told),
    who.map((w) => ({ type: 'attendee_completed', attendee_id: w, ...common }) as Told),
    fc.constant({ type: 'pin_changed', pin: seq % 2 ? { message: `p${seq}`, at: ts(seq) } : null, ...common } as Told),
    fc
      .record({ p: fc.constantFrom('p1', 'p2'), state: fc.constantFrom('open', 'closed', null), round: fc.integer({ min: 1, max: 2 }) })
      .map(
        ({ p, state, round }) =>
          ({ type: 'poll_changed', poll_id: p, poll: state && { id: p, state, round, votes: 0, of: 0, words: null }, ...common }) as Told,
      ),
    fc.record({ p: fc.constantFrom('p1', 'p2'), n: fc.nat(9) }).map(({ p, n }) => ({ type: 'poll_counts', poll_id: p, round: 1, votes: n, of: 9 }) as Told),
    fc
      .boolean()
      .map((there) => ({ type: 'question_changed', question_id: 'q', question: there ? { id: 'q', text: `q${seq}`, votes: 0 } : null, ...common }) as Told),
    fc.nat(9).map((n) => ({ type: 'question_votes', votes: { q: n } }) as Told),
    fc.boolean().map((on) => ({ type: 'timer_changed', timer: on ? { label: `t${seq}` } : null, ...common }) as Told),
    fc.constantFrom('poll', null).map((kind) => ({ type: 'spotlight_changed', kind, id: kind && 'p1', ...common }) as Told),
    fc.constant({ type: 'pointer', step_number: seq % 4 || null, hints: false, by: 'F', ...common } as Told),
  )
}
const stream = fc.integer({ min: 1, max: 40 }).chain((n) => fc.tuple(...Array.from({ length: n }, (_, i) => event(i + 1))))

/** The state, in a form that can be compared. */
const plain = (w: Workshop) => ({ ...w, people: Object.fromEntries(w.people), here: [...w.here], again: [...w.again] })

describe('the state after a stream of messages', () => {
  test('is the same for one batch and for any smaller batches', () => {
    fc.assert(
      fc.property(stream, fc.infiniteStream(fc.integer({ min: 1, max: 5 })), (messages, sizes) => {
        const whole = apply(empty(), messages)
        let pieces = empty()
        let at = 0
        for (const size of sizes) {
          if (at >= messages.length) break
          pieces = apply(pieces, messages.slice(at, at + size))
          at += size
        }
        expect(plain(pieces)).toEqual(plain(whole))
      }),
    )
  })

  // After a read, the stream can repeat messages that the read already contains.
  test('is the same if a part is delivered twice', () => {
    fc.assert(
      fc.property(stream, fc.nat(), (messages, cut) => {
        const at = cut % (messages.length + 1)
        const whole = apply(empty(), messages)
        const deleted = new Set(messages.filter((m) => m.type === 'chat_deleted').map((m) => m.id))
        const twice = apply(apply(empty(), messages), messages.slice(at))
        // The last repeated messages contain the latest value of everything that can change.
        expect(plain(twice).people).toEqual(
          expect.objectContaining(
            Object.fromEntries(
              [...whole.people].map(([k, a]) => [k, expect.objectContaining({ current_step: a.current_step, name: a.name, is_completed: a.is_completed })]),
            ),
          ),
        )
        expect(twice.chat.filter((c) => !deleted.has(c.id)).map((c) => c.id)).toEqual(whole.chat.filter((c) => !deleted.has(c.id)).map((c) => c.id))
        expect(twice.codelab).toEqual(whole.codelab)
        expect([twice.timer, twice.spotlight]).toEqual([whole.timer, whole.spotlight])
        // The server does not store counts, so it never repeats them, and they are not compared.
        const states = (w: Workshop) => [...w.polls.byId.values()].map((p) => [p.id, p.state, p.round]).toSorted()
        expect(states(twice)).toEqual(states(whole))
        expect([...twice.questions.byId.keys()]).toEqual([...whole.questions.byId.keys()])
      }),
    )
  })

  test('leaves earlier states unchanged', () => {
    fc.assert(
      fc.property(stream, (messages) => {
        const before = empty()
        const copy = structuredClone(plain(before))
        const half = apply(before, messages.slice(0, messages.length / 2))
        const held = structuredClone(plain(half))
        apply(half, messages)
        expect(plain(before)).toEqual(copy)
        expect(plain(half)).toEqual(held)
      }),
    )
  })

  test('contains each chat message once, in order', () => {
    fc.assert(
      fc.property(stream, (messages) => {
        const ids = apply(apply(empty(), messages), messages).chat.map((c) => c.id)
        expect(ids).toEqual([...new Set(ids)].toSorted())
      }),
    )
  })

  test('contains the message of a help request, even after a claim', () => {
    const asked = apply(empty(), [
      {
        type: 'help_request',
        id: 'h',
        attendee_id: 'a',
        attendee_name: 'a',
        step_number: 2,
        status: 'pending',
        message: 'curl?',
        seq: 1,
        ts: ts(1),
      } as unknown as Told,
    ])
    expect(asked.help).toMatchObject([{ id: 'h', message: 'curl?', claimed_by: null }])
    const claimed = apply(asked, [
      {
        type: 'help_claimed',
        id: 'h',
        attendee_id: 'a',
        attendee_name: 'a',
        step_number: 2,
        status: 'in_progress',
        claimed_by: 'F',
        seq: 2,
        ts: ts(2),
      } as Told,
    ])
    expect(claimed.help).toMatchObject([{ message: 'curl?', status: 'in_progress', claimed_by: 'F', created_at: ts(1) }])
  })

  test("contains a person's pulse until they move to another step", () => {
    const stuck = apply(empty(), [{ type: 'pulse', attendee_id: 'a', attendee_name: 'a', state: 'stuck', step_number: 1, seq: 1, ts: ts(1) } as Told])
    expect(stuck.people.get('a')?.pulse?.state).toBe('stuck')
    const same = apply(stuck, [{ type: 'step_progress', attendee_id: 'a', step_number: 1, seq: 2, ts: ts(2) } as Told])
    expect(same.people.get('a')?.pulse?.state).toBe('stuck')
    const moved = apply(stuck, [{ type: 'step_progress', attendee_id: 'a', step_number: 2, seq: 2, ts: ts(2) } as Told])
    expect(moved.people.get('a')).toMatchObject({ pulse: null, step_since: ts(2), furthest_step: 2 })
  })

  test('drops the pulse for an earlier step that a repeated message brings back', () => {
    const read = { ...empty(), people: new Map([['a', { ...person('a'), current_step: 2 }]]) }
    const replayed = apply(read, [
      { type: 'pulse', attendee_id: 'a', attendee_name: 'a', state: 'stuck', step_number: 1, seq: 1, ts: ts(1) } as Told,
      { type: 'step_progress', attendee_id: 'a', step_number: 2, seq: 2, ts: ts(2) } as Told,
    ])
    expect(replayed.people.get('a')).toMatchObject({ pulse: null, current_step: 2 })
  })

  // The app shows the new step before the server has it. Until then, messages about the previous
  // step can still arrive.
  test("does not apply a late pulse for the previous step to the person's new step", () => {
    const own = { ...empty(), me: 'a', people: new Map([['a', { ...person('a'), current_step: 2 }]]) }
    const late = apply(own, [
      { type: 'pulse', attendee_id: 'a', attendee_name: 'a', state: 'stuck', step_number: 1, seq: 1, ts: ts(1) } as Told,
      { type: 'step_progress', attendee_id: 'a', step_number: 2, seq: 2, ts: ts(2) } as Told,
    ])
    expect(late.people.get('a')).toMatchObject({ pulse: null, current_step: 2 })
    const ofThisStep = apply(late, [{ type: 'pulse', attendee_id: 'a', attendee_name: 'a', state: 'slow', step_number: 2, seq: 3, ts: ts(3) } as Told])
    expect(ofThisStep.people.get('a')?.pulse?.state).toBe('slow')
  })

  test('marks for another read the parts that messages do not contain', () => {
    const w = apply(empty(), [
      { type: 'steps_changed', seq: 1, ts: ts(1) } as Told,
      { type: 'inline_comment_changed', target_type: 'step', target_step_id: 's1', thread_id: 't', action: 'created', seq: 2, ts: ts(2) } as Told,
      { type: 'attendee_joined', attendee: { id: 'new', name: 'N', current_step: 1 } } as Told,
    ])
    expect([...w.again].toSorted()).toEqual(['attendees', 'codelab', 'threads'])
    expect(w.here.has('new')).toBe(true)
  })

  const told = (...messages: object[]) => apply(empty(), messages.map((m, i) => ({ seq: i + 1, ts: ts(i + 1), ...m })) as Told[])

  test('keeps the furthest step and the first time of completion', () => {
    const w = told(
      { type: 'step_progress', attendee_id: 'a', step_number: 3 },
      { type: 'step_progress', attendee_id: 'a', step_number: 2 },
      { type: 'attendee_completed', attendee_id: 'a' },
      { type: 'attendee_completed', attendee_id: 'a' },
    )
    expect(w.people.get('a')).toMatchObject({ current_step: 2, furthest_step: 3, is_completed: true, completed_at: ts(3) })
  })

  test('follows presence, mutes, taken code and names, even in help requests', () => {
    const ask = { type: 'help_request', id: 'h', attendee_id: 'a', attendee_name: 'a', step_number: 1, status: 'pending' }
    const w = told(
      { type: 'attendee_joined', attendee: { id: 'a', name: 'a', current_step: 1 } },
      { type: 'attendee_joined', attendee: { id: 'b', name: 'b', current_step: 1 } },
      { type: 'attendee_left', attendee: { id: 'a', name: 'a', current_step: 1 } },
      { type: 'attendee_muted', attendee_id: 'a', muted: true },
      { type: 'code_taken', attendee_id: 'a', name: 'step-2-start', ts: '2026-01-01T00:00:07.000Z' },
      { type: 'attendee_muted', attendee_id: 'b', muted: true },
      { type: 'attendee_muted', attendee_id: 'b', muted: false },
      ask,
      { ...ask, id: 'other', attendee_id: 'b', attendee_name: 'b' },
      ask,
      { type: 'attendee_renamed', attendee_id: 'a', name: 'A' },
    )
    expect([...w.here]).toEqual(['b'])
    expect(['a', 'b'].map((id) => w.people.get(id)?.muted)).toEqual([true, false])
    expect(['a', 'b'].map((id) => w.people.get(id)?.code_taken)).toEqual([{ name: 'step-2-start', at: '2026-01-01T00:00:07.000Z' }, null])
    expect(w.help.map((h) => [h.id, h.attendee_name])).toEqual([
      ['h', 'A'],
      ['other', 'b'],
    ])
    // The people are known, so nothing has to be read again.
    expect([...w.again]).toEqual([])
  })

  test('contains the receiver of a direct message and the summary for facilitators', () => {
    const w = told(
      { type: 'dm', id: id(1), sender: 'A', sender_id: 'a', target_id: 'b', message: 'x' },
      { type: 'chat', id: id(2), sender: 'A', sender_id: 'a', message: 'y' },
      { type: 'progress_summary', per_step: [1, 2, 0], completed: 4, online: 3, pulse: { fine: 1, slow: 0, stuck: 2 } },
    )
    expect(w.chat.map((c) => c.target_id)).toEqual(['b', null])
    expect(w.summary).toMatchObject({ per_step: [1, 2, 0], completed: 4, online: 3, pulse: { fine: 1, slow: 0, stuck: 2 } })
  })

  test('marks all parts of a changed codelab for one read, and records that it was deleted', () => {
    const w = told({ type: 'codelab_changed' }, { type: 'codelab_changed' })
    expect([...w.again].toSorted()).toEqual(['codelab', 'materials', 'quizzes'])
    const read = readAgain(w, 'codelab')
    expect([[...read.again].toSorted(), w.again.size]).toEqual([['materials', 'quizzes'], 3])
    expect([w.gone, told({ type: 'codelab_deleted' }).gone]).toEqual([false, true])
  })

  test('keeps the newest messages of a long chat, and records that older messages exist', () => {
    const say = (n: number) => ({ type: 'chat', id: id(n), sender: 'A', sender_id: 'a', message: `m${n}` })
    const many = (n: number) => told(...Array.from({ length: n }, (_, i) => say(i + 1)))
    const full = many(3 * chatHeld)
    expect([full.chat.length, full.olderChat]).toEqual([3 * chatHeld, false])
    const over = many(3 * chatHeld + 1)
    expect([over.chat.length, over.chat.at(-1)?.id, over.olderChat]).toEqual([chatHeld, id(3 * chatHeld + 1), true])
  })
})

test('pages of the chat are merged without gaps or duplicates', () => {
  const m = (n: number) => ({ id: id(n) }) as ChatMessage
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => m(from + i))
  const ids = (list: readonly ChatMessage[]) => list.map((x) => x.id)
  expect(ids(mergeChat(range(1, 10), range(6, 15)))).toEqual(ids(range(1, 15)))
  expect(ids(mergeChat([], range(6, 15)))).toEqual(ids(range(6, 15)))
  // The messages between the two pages are unknown, so only the newest page is shown.
  expect(ids(mergeChat(range(1, 3), range(6, 15)))).toEqual(ids(range(6, 15)))
  expect(ids(mergeChat(range(1, 10), []))).toEqual([])
  // The last loaded message is the first message of the newest page.
  expect(ids(mergeChat(range(1, 6), range(6, 15)))).toEqual(ids(range(1, 15)))
})
