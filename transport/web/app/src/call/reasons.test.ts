import { expect, test } from 'vitest'
import type { Told } from '../live/protocol'
import { attendeeCalls, facilitatorCalls, nowNext, waiting } from './reasons'
import type { Settings } from './settings.svelte'

const settings: Settings = { sound: true, desktop: true, help: 'each', direct: true, turn: true, broadcast: true, time: true }
const asked = (id: string, status = 'pending') => ({ type: 'help_request', id, status })
const facilitator = (told: object[], before: string[] = [], s: Partial<Settings> = {}) =>
  facilitatorCalls(told as Told[], new Set(before), { ...settings, ...s }).map((c) => `${c.reason}${c.loud ? '!' : ''}`)
const attendee = (told: object[], s: Partial<Settings> = {}) =>
  attendeeCalls(told as Told[], { ...settings, ...s }).map((c) => `${c.reason}${c.loud ? '!' : ''}`)

test.each([
  ['each', [], ['help!', 'help!']],
  ['first', [], ['help!', 'help']],
  ['first', ['x'], ['help', 'help']],
  ['none', [], ['help', 'help']],
] as const)('with the setting "%s" and %j already waiting, two help requests cause the notifications %j', (help, before, calls) => {
  expect(facilitator([asked('1'), asked('2')], [...before], { help })).toEqual(calls)
})

test('a repeated help request causes no second notification', () => {
  expect(facilitator([asked('1'), asked('1')], ['1'])).toEqual([])
  expect(facilitator([asked('1'), asked('1')])).toEqual(['help!'])
})

test.each([
  [{ type: 'dm', sender_id: 'a' }, ['direct!'], ['direct']],
  [{ type: 'dm', sender_id: 'facilitator' }, [], []],
  [{ type: 'chat', sender_id: 'a' }, [], []],
  [{ type: 'help_claimed', id: '1' }, [], []],
  [asked('1', 'in_progress'), [], []],
  [{ type: 'help_released', id: '1' }, ['help!'], ['help!']],
])('%j notifies a facilitator with %j, and with %j if direct messages are off', (frame, loud, silent) => {
  expect([facilitator([frame]), facilitator([frame], [], { direct: false })]).toEqual([loud, silent])
})

test.each([
  [{ type: 'help_claimed' }, ['coming!'], ['coming']],
  [{ type: 'help_released' }, ['missed!'], ['missed']],
  [{ type: 'help_resolved', message: 'Row 3' }, ['answer!'], ['answer']],
  [{ type: 'help_resolved' }, [], []],
  [{ type: 'broadcast' }, ['broadcast!'], ['broadcast']],
  [{ type: 'help_request', id: '1' }, [], []],
  [{ type: 'dm', sender_id: 'b' }, [], []],
])('%j notifies an attendee with %j, and with %j if turn and broadcasts are off', (frame, loud, silent) => {
  expect([attendee([frame]), attendee([frame], { turn: false, broadcast: false })]).toEqual([loud, silent])
})

test.each([
  [3, 1, true],
  [2, 1, true],
  [1, 1, false],
  [3, 2, false],
  [null, 1, false],
  [2, null, false],
])('an attendee who moves from place %j to place %j becomes the next one: %j', (before, after, next) => expect(nowNext(before, after)).toBe(next))

test('only requests that nobody has claimed are waiting', () => {
  const help = [
    { id: '1', status: 'pending' },
    { id: '2', status: 'in_progress' },
  ]
  expect([...waiting(help as never)]).toEqual(['1'])
})
