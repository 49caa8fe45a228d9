import { beforeEach, expect, test, vi } from 'vitest'
import { Refused } from '../../api/refused'
import type { Room } from '../../live/room.svelte'
import { Membership } from './membership.svelte'

const server = vi.hoisted(() => ({ gone: false as boolean | Error, asked: [] as string[] }))
vi.mock('./gone', () => ({
  isGone: async (id: string) => {
    server.asked.push(id)
    if (server.gone instanceof Error) throw server.gone
    return server.gone
  },
}))
beforeEach(() => Object.assign(server, { gone: false, asked: [] }))

const refused = (status: number) => Object.assign(Object.create(Refused.prototype) as Refused, { status })
const of = (room: object) => new Membership({ status: { state: 'connected' }, refused: null, now: { me: 'a1', gone: false }, ...room } as unknown as Room)

test.each([
  ['connected', {}, false, false],
  ['session over', { status: { state: 'ended' } }, true, false],
  ['signed out while reading', { refused: refused(401) }, true, false],
  ['signed out before reading', { refused: refused(401), now: null }, true, true],
  ['forbidden', { refused: refused(403) }, true, true],
  ['codelab deleted', { now: { me: 'a1', gone: true } }, false, true],
])('%s', (_, room, signedOut, ended) => {
  const m = of(room)
  expect([m.signedOut, m.ended]).toEqual([signedOut, ended])
})

test('a removed attendee sees the end of the codelab; an attendee whose session ended keeps the text', async () => {
  const over = { status: { state: 'ended' } }
  const kept = of(over)
  await kept.look()
  expect(kept.ended).toBe(false)
  server.gone = new TypeError('offline')
  await kept.look()
  expect(kept.ended).toBe(false)
  server.gone = true
  await kept.look()
  expect([kept.ended, server.asked]).toEqual([true, ['a1', 'a1', 'a1']])
})

test('the server is not asked while the session lasts', async () => {
  await of({}).look()
  expect(server.asked).toEqual([])
})
