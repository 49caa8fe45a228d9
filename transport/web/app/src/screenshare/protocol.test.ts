import { expect, test } from 'vitest'
import type { Signal } from '../live/room.svelte'
import { token } from '../device/token'
import { heard, signalTo, status } from './protocol'

/** A signal as the server forwards it. */
const passed = (message: object, sender_id = 'facilitator', sender = 'Facilitator') => ({ ...message, sender, sender_id }) as unknown as Signal

test('the receiver decodes what the sender has encoded', () => {
  const share = token()
  const [from, to, ask] = [token(), token(), token()]
  expect(heard(passed(status('admin', share, true)))).toEqual({
    person: 'facilitator',
    name: 'Facilitator',
    is: 'status',
    share,
    active: true,
    only: null,
    ask: null,
  })
  expect(heard(passed(status('attendee', share, false, 'Facilitator', ask), 'a-1', 'Attendee 1'))).toMatchObject({
    person: 'a-1',
    is: 'status',
    active: false,
    only: 'Facilitator',
    ask,
  })
  for (const said of [
    { is: 'ask', ask, from: ask } as const,
    { is: 'watch', share, from } as const,
    { is: 'full', share, to } as const,
    { is: 'step', share, from, to, description: { type: 'offer', sdp: 'v=0' } } as const,
    { is: 'step', share, from, to, candidate: { candidate: '' } } as const,
  ]) {
    expect(heard(passed(signalTo('a-1', said)))).toMatchObject(said)
  }
})

test('signals from other programs and invalid signals are ignored', () => {
  const share = token()
  for (const foreign of [
    { type: 'screen_share_status', active: true },
    { type: 'screen_share_status', status: 'stopped' },
    { type: 'attendee_screen_status', active: false, share },
    { type: 'webrtc_signal', signal: { type: 'offer', sdp: 'v=0' } },
    { type: 'webrtc_signal', app: 'another', is: 'watch', share, from: share },
    { type: 'webrtc_signal', app: 'atelier', is: 'watch', share },
    { type: 'webrtc_signal', app: 'atelier', is: 'step', share, from: share, to: share, description: 'v=0' },
    { type: 'webrtc_signal', app: 'atelier', is: 'format', share, from: share, to: share },
    { type: 'screen_share_status', app: 'atelier', active: 'yes', share },
    { type: 'screen_share_status', app: 'atelier', active: true, share: { no: 'id' } },
  ]) {
    expect(heard(passed(foreign))).toBeNull()
  }
})
