// Tests several people's screens in one room, without browsers. Signals pass through a fake server
// of a few lines, and connections are also fake.
import { beforeEach, expect, test, vi } from 'vitest'
import { isHeld } from '../device/busy'
import type { Room, Signal } from '../live/room.svelte'
import { mostViewers, Screens } from './screens.svelte'

class Pretended {
  static open = 0
  static last: Pretended | null = null
  connectionState = 'new'
  signalingState = 'stable'
  #answers = false
  get localDescription() {
    return { toJSON: () => ({ type: this.#answers ? 'answer' : 'offer', sdp: 'v=0' }) }
  }
  onnegotiationneeded: (() => void) | null = null
  ontrack: ((e: object) => void) | null = null
  onconnectionstatechange: (() => void) | null = null
  constructor() {
    Pretended.open++
    Pretended.last = this
  }
  addTrack() {
    queueMicrotask(() => this.onnegotiationneeded?.())
    return { getParameters: () => ({ encodings: [] }), setParameters: async () => {} }
  }
  async setLocalDescription() {}
  async setRemoteDescription(d: { type: string }) {
    this.#answers = d.type === 'offer'
    if (this.#answers) this.ontrack?.({ track: {}, streams: ['the picture'] })
  }
  async addIceCandidate() {}
  close() {
    Pretended.open--
  }
}

interface Person {
  id: string
  name: string
  role: 'admin' | 'attendee'
  ears: Set<(s: Signal) => void>
}

const everybody: Person[] = []

/** Forwards signals as the server does, with the sender added, and only to their recipients. */
function pass(from: Person, message: Record<string, unknown>) {
  const stamped = { ...JSON.parse(JSON.stringify(message)), sender: from.name, sender_id: from.id } as Signal
  const to =
    message.type === 'screen_share_status'
      ? everybody
      : message.type === 'attendee_screen_status'
        ? everybody.filter((p) => p.role === 'admin')
        : everybody.filter((p) => p.id === message.target_id)
  for (const p of to) for (const f of p.ears) f(stamped)
}

function enter(role: Person['role'], name: string): Screens {
  const person: Person = { id: role === 'admin' ? 'facilitator' : `attendee-${everybody.length}`, name, role, ears: new Set() }
  everybody.push(person)
  const room = {
    role,
    you: { name },
    signal: (m: Record<string, unknown>) => pass(person, m),
    onSignal: (f: (s: Signal) => void) => (person.ears.add(f), () => person.ears.delete(f)),
    onArrival: () => () => {},
  }
  const screens = new Screens(room as unknown as Room)
  screens.begin()
  return screens
}

/** Runs all pending work in this process. Nothing outside the process is pending. */
const settle = async () => {
  for (let turns = 0; turns < 20; turns++) await new Promise((done) => setTimeout(done))
}

beforeEach(() => {
  everybody.length = 0
  Pretended.open = 0
  vi.stubGlobal('addEventListener', () => {})
  vi.stubGlobal('removeEventListener', () => {})
  vi.stubGlobal('RTCPeerConnection', Pretended)
  vi.stubGlobal('navigator', {
    mediaDevices: {
      getDisplayMedia: async () => {
        const track = { contentHint: '', addEventListener: () => {}, stop: () => {} }
        return { getTracks: () => [track], getVideoTracks: () => [track] }
      },
    },
  })
})

test('the number of viewers is limited, and a place is free again when a viewer leaves', async () => {
  const lead = enter('admin', 'Grace')
  const people = Array.from({ length: mostViewers + 1 }, (_, i) => enter('attendee', `Attendee ${i + 1}`))
  expect(await lead.show()).toBe(true)
  expect(isHeld()).toBe(true)
  for (const p of people) await p.watch(p.offers[0]!)
  await settle()
  expect(lead.mine?.viewers).toHaveLength(mostViewers)
  expect(people.map((p) => p.watching?.state)).toEqual([...Array.from({ length: mostViewers }, () => 'watching'), 'full'])
  people[0]!.close()
  const last = people.at(-1)!
  await last.watch(last.offers[0]!)
  await settle()
  expect(last.watching?.state).toBe('watching')
  expect(lead.mine?.viewers).toHaveLength(mostViewers)
  lead.stop()
  expect(isHeld()).toBe(false)
  expect(people.slice(1).map((p) => p.watching?.state)).toEqual(Array.from({ length: mostViewers }, () => 'ended'))
  expect(people.every((p) => p.offers.length === 0)).toBe(true)
  expect(Pretended.open).toBe(0)
})

test('a lost screen whose offer is not repeated has ended', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date'] })
  try {
    const lead = enter('admin', 'Grace')
    const ann = enter('attendee', 'Attendee 1')
    await lead.show()
    await ann.watch(ann.offers[0]!)
    await settle()
    everybody.shift() // a closed browser sends no message
    lead.mine = null
    Pretended.last!.connectionState = 'failed'
    Pretended.last!.onconnectionstatechange?.()
    expect(ann.watching?.state).toBe('lost')
    vi.advanceTimersByTime(60_000)
    expect(ann.watching?.state).toBe('lost')
    vi.advanceTimersByTime(60_000)
    expect(ann.watching?.state).toBe('ended')
  } finally {
    vi.useRealTimers()
  }
})

test("an attendee's screen is visible only to the facilitator they agreed with", async () => {
  const grace = enter('admin', 'Grace')
  const other = enter('admin', 'Alan')
  const ann = enter('attendee', 'Attendee 1')
  const ben = enter('attendee', 'Attendee 2')
  const [, , a] = everybody
  grace.askFor(a!.id)
  expect(ann.asked?.name).toBe('Grace')
  expect(ann.mine).toBeNull()
  await ann.show(ann.asked!.name)
  await settle()
  // The screen opens for the facilitator who asked. Nobody else gets an offer.
  expect(grace.watching?.state).toBe('watching')
  expect([other.offers, ben.offers]).toEqual([[], []])
  // Other people who know the id of the share are not admitted.
  const offer = grace.offers[0]!
  await other.watch(offer)
  await ben.watch(offer)
  await settle()
  expect(ann.mine?.viewers.map((v) => v.name)).toEqual(['Grace'])
  expect([other.watching?.state, ben.watching?.state]).toEqual(['connecting', 'connecting'])
  // Nobody can end the screen for another person either.
  pass(everybody[3]!, { type: 'webrtc_signal', target_id: a!.id, app: 'atelier', is: 'leave', share: offer.share, from: ann.mine!.viewers[0]!.id })
  pass(everybody[3]!, { type: 'webrtc_signal', target_id: 'facilitator', app: 'atelier', is: 'end', share: offer.share, to: ann.mine!.viewers[0]!.id })
  expect(grace.watching?.state).toBe('watching')
  expect(ann.mine?.viewers).toHaveLength(1)
})

test('of two facilitators with the same name, only the one who asked sees the screen', async () => {
  const one = enter('admin', 'Facilitator')
  const two = enter('admin', 'Facilitator')
  const ann = enter('attendee', 'Attendee 1')
  one.askFor(everybody[2]!.id)
  await ann.show(ann.asked!.name)
  await settle()
  expect(one.watching?.state).toBe('watching')
  expect(two.offers).toEqual([])
  await two.watch(one.offers[0]!)
  await settle()
  expect(ann.mine?.viewers).toHaveLength(1)
  // The offer is repeated for people who come later, and stays for the facilitator who asked.
  const said = { type: 'attendee_screen_status', app: 'atelier', active: true, share: ann.mine!.share, only: 'Facilitator', ask: 'another-ask' }
  pass(everybody[2]!, said)
  expect([one.offers.length, two.offers.length]).toEqual([1, 0])
  // If nobody has asked for the screen, only the name decides.
  ann.stop()
  await ann.show('Facilitator')
  expect(two.offers).toHaveLength(1)
  await two.watch(two.offers[0]!)
  await settle()
  expect(two.watching?.state).toBe('watching')
})

test('a facilitator with a unique name is admitted again after a reload', async () => {
  const grace = enter('admin', 'Grace')
  const ann = enter('attendee', 'Attendee 1')
  grace.askFor(everybody[1]!.id)
  await ann.show(ann.asked!.name)
  const again = enter('admin', 'Grace')
  pass(everybody[1]!, { type: 'attendee_screen_status', app: 'atelier', active: true, share: ann.mine!.share, only: 'Grace', ask: 'the-first-ask' })
  await again.watch(again.offers[0]!)
  await settle()
  expect(again.watching?.state).toBe('watching')
})

test('a request for a screen can be withdrawn or declined, and is declined while the screen is shown', async () => {
  const grace = enter('admin', 'Grace')
  const ann = enter('attendee', 'Attendee 1')
  const id = everybody[1]!.id
  grace.askFor(id)
  grace.takeBack(id)
  expect(ann.asked).toBeNull()
  grace.askFor(id)
  ann.decline()
  expect(grace.asking.get(id)?.declined).toBe(true)
  await ann.show('Alan')
  grace.askFor(id)
  expect(ann.asked).toBeNull()
  expect(grace.asking.get(id)?.declined).toBe(true)
  // An attendee cannot ask.
  pass(everybody[1]!, { type: 'webrtc_signal', target_id: 'facilitator', app: 'atelier', is: 'ask', ask: 'abcdefghij' })
  expect(grace.asked).toBeNull()
})

test('nothing is shared when the person refuses in the browser', async () => {
  vi.stubGlobal('navigator', { mediaDevices: { getDisplayMedia: async () => Promise.reject(new Error('NotAllowedError')) } })
  const lead = enter('admin', 'Grace')
  const ann = enter('attendee', 'Attendee 1')
  expect(await lead.show()).toBe(false)
  expect([lead.mine, ann.offers]).toEqual([null, []])
})

test('an attendee has one offer, which contains whether the facilitator asked for it', async () => {
  const grace = enter('admin', 'Grace')
  const ann = enter('attendee', 'Attendee 1')
  enter('attendee', 'Attendee 2')
  const offer = (from: number, share: string, active = true) =>
    pass(everybody[from]!, { type: 'attendee_screen_status', app: 'atelier', active, share, only: 'Grace' })
  for (let i = 0; i < 50; i++) offer(1, `share-number-${i}-of-ann`)
  expect(grace.offers.map((o) => [o.share, o.asked])).toEqual([['share-number-49-of-ann', false]])
  // Nobody can take over or end the screen of another person.
  offer(2, 'share-number-49-of-ann')
  offer(2, 'share-number-49-of-ann', false)
  expect(grace.offers.map((o) => o.person)).toEqual([everybody[1]!.id])
  // A requested screen stays marked as requested when its offer is repeated.
  grace.askFor(everybody[1]!.id)
  await ann.show(ann.asked!.name)
  await settle()
  expect(grace.offers.map((o) => o.asked)).toEqual([true])
  pass(everybody[1]!, { type: 'attendee_screen_status', app: 'atelier', active: true, share: ann.mine!.share, only: 'Grace' })
  expect(grace.offers.map((o) => o.asked)).toEqual([true])
})
