import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Told } from '../live/protocol'
import { apply } from './apply'
import { workshop, type Attendee, type Codelab, type HelpRequest, type Workshop } from './state'

const ts = '2026-01-01T00:00:00.000Z'
const start = (help: readonly HelpRequest[] = []): Workshop => ({
  ...workshop('facilitator', { id: 'lab', pin: null, pointer: null } as Codelab, []),
  people: new Map([['a', { id: 'a', pulse: null } as Attendee]]),
  help,
})
const after = (frame: object, before = start()) => apply(before, [{ seq: 1, ts, ...frame } as unknown as Told])
const asked = { id: 'h', attendee_id: 'a', attendee_name: 'A', step_number: 2, status: 'pending' }

/** Each message that carries a record, and the record's place in the state. */
const frames: [frame: { type: string; [member: string]: unknown }, record: (w: Workshop) => unknown][] = [
  [{ type: 'chat', id: 'c', sender: 'A', sender_id: 'a', message: 'x' }, (w) => w.chat[0]],
  [{ type: 'dm', id: 'c', sender: 'A', sender_id: 'a', target_id: 'b', message: 'x' }, (w) => w.chat[0]],
  [{ type: 'broadcast', id: 'c', sender_name: 'F', sender_id: 'facilitator', message: 'x' }, (w) => w.chat[0]],
  [{ type: 'pointer', step_number: 2, hints: true, by: 'F' }, (w) => w.codelab.pointer],
  [{ type: 'pulse', attendee_id: 'a', attendee_name: 'A', state: 'slow', step_number: 1 }, (w) => w.people.get('a')?.pulse],
  [{ type: 'help_request', ...asked }, (w) => w.help[0]],
  [{ type: 'help_claimed', ...asked, status: 'in_progress', claimed_by: 'F', person: 'p' }, (w) => w.help[0]],
  [{ type: 'progress_summary', per_step: [1], completed: 0, online: 1 }, (w) => w.summary],
]

describe.each(frames)('the record of $type', (frame, record) => {
  test('keeps members that are unknown to this app', () => {
    // The prefix makes names that no object has or inherits.
    const name = fc.string({ minLength: 1, maxLength: 8 }).map((s) => `new_${s}`)
    fc.assert(
      fc.property(fc.dictionary(name, fc.jsonValue()), (unknown) => {
        expect(record(after({ ...frame, ...unknown }))).toMatchObject(unknown)
      }),
    )
  })
})

test('a pin is stored unchanged', () => {
  const pin = { message: 'A break', at: ts, new_member: [1] }
  expect(after({ type: 'pin_changed', pin }).codelab.pin).toEqual(pin)
})

test('a record from a message equals the record from a read: it has the field names of REST, and no envelope', () => {
  const chat = { id: 'c', codelab_id: 'lab', sender_id: 'a', sender_name: 'A', person: null, message: 'x', created_at: ts }
  expect(after(frames[0]![0]).chat).toEqual([{ ...chat, msg_type: 'chat', target_id: null }])
  expect(after(frames[1]![0]).chat).toEqual([{ ...chat, msg_type: 'dm', target_id: 'b' }])
  expect(after(frames[2]![0]).chat).toEqual([{ ...chat, msg_type: 'broadcast', target_id: null, sender_id: 'facilitator', sender_name: 'F' }])
  expect(after(frames[3]![0]).codelab.pointer).toEqual({ step_number: 2, hints: true, by: 'F', person: null })
  expect(after(frames[4]![0]).people.get('a')?.pulse).toEqual({ state: 'slow', step_number: 1, at: ts })
  expect(after(frames[5]![0]).help).toEqual([
    { ...asked, codelab_id: 'lab', message: '', place: null, claimed_by: null, person: null, answer: null, created_at: ts, resolved_at: null },
  ])
})

test('a frame without a step or a state removes the record', () => {
  const pointed = after(frames[3]![0])
  expect(after({ type: 'pointer', step_number: null, hints: false, by: 'F' }, pointed).codelab.pointer).toBeNull()
  const slow = after(frames[4]![0])
  expect(after({ type: 'pulse', attendee_id: 'a', attendee_name: 'A', state: null, step_number: 1 }, slow).people.get('a')?.pulse).toBeNull()
})

test('a claim keeps the time, the message and the place of a request; a new request is unclaimed', () => {
  const read = {
    ...asked,
    status: 'pending',
    codelab_id: 'lab',
    message: 'curl?',
    created_at: '2025-01-01T00:00:00Z',
    position: 2,
    place: 'row 3',
    person: null,
    answer: null,
  } as HelpRequest
  const claimed = after(frames[6]![0], start([read]))
  expect(claimed.help).toEqual([{ ...read, status: 'in_progress', claimed_by: 'F', person: 'p', resolved_at: null }])
  expect(after({ type: 'help_request', ...asked }, claimed).help).toMatchObject([{ message: 'curl?', claimed_by: null, person: null, status: 'pending' }])
})

test('a released request waits again in its place, unclaimed', () => {
  const claimed = after(frames[6]![0])
  const back = after({ type: 'help_released', id: 'h', attendee_id: 'a', attendee_name: 'A', reason: 'gone' }, claimed)
  expect(back.help).toEqual([{ ...claimed.help[0], status: 'pending', claimed_by: null, person: null }])
  expect(after({ type: 'help_released', id: 'h', attendee_id: 'a', attendee_name: 'A', reason: '' }).help).toEqual([])
})

test('a new place is stored with the person and with their request', () => {
  const moved = after({ type: 'attendee_placed', attendee_id: 'a', place: 'row 4' }, after(frames[5]![0]))
  expect([moved.people.get('a')?.place, moved.help[0]?.place]).toEqual(['row 4', 'row 4'])
})
