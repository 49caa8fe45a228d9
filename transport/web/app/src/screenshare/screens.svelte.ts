// The screens of a room. These are the available screens, this person's own screen with its
// viewers, the screen being watched, and requests for screens.
import { token } from '../device/token'
import { api, ask } from '../api/client'
import { hold } from '../device/busy'
import type { Room, Signal } from '../live/room.svelte'
import { facilitator, unnamed } from '../workshop/state'
import { Peer } from './peer'
import { heard, signalTo, status, type Heard } from './protocol'

/**
 * The maximum number of viewers per screen. It is limited because each viewer has a separate
 * connection.
 */
export const mostViewers = 8

/**
 * The interval of status messages, in milliseconds. The server does not store them, so they are
 * repeated for people who connect later.
 */
const sayEvery = 20_000
/** The time without a status message after which a screen counts as ended, in milliseconds. */
const goneAfter = 100_000

export interface Offer {
  readonly share: string
  readonly person: string
  readonly name: string
  /** Whether the screen was requested here, or is a facilitator's screen for everybody. */
  readonly asked: boolean
  /** The time of the last status message, in Unix milliseconds. */
  readonly heard: number
}

export interface Viewer {
  readonly id: string
  readonly person: string
  readonly name: string
}

export type WatchState = 'connecting' | 'watching' | 'full' | 'lost' | 'ended'

/** Whether this browser can share the screen. Sharing requires HTTPS and a computer. */
export const canShow = (): boolean => typeof navigator.mediaDevices?.getDisplayMedia === 'function'

export class Screens {
  readonly room: Room
  /** The available screens of other people. */
  offers = $state.raw<readonly Offer[]>([])
  /**
   * This person's own screen, while it is shared. only is the name of the facilitator who can see
   * it, or null for everybody.
   */
  mine = $state.raw<{ share: string; only: string | null; viewers: readonly Viewer[] } | null>(null)
  /** A facilitator's request for this person's own screen. */
  asked = $state.raw<{ ask: string; name: string; from: string | null } | null>(null)
  /** Requests to attendees, by attendee, that wait for an answer or were declined. */
  asking = $state.raw<ReadonlyMap<string, { ask: string; declined: boolean }>>(new Map())
  watching = $state.raw<{ offer: Offer; state: WatchState; stream: MediaStream | null } | null>(null)

  readonly #me = token()
  #stream: MediaStream | null = null
  #release = () => {}
  /** Whether the page was left, also while the browser asks for the screen. */
  #left = false
  #ask: string | null = null
  /** The browser of the facilitator who requested this person's own screen. */
  #asker: string | null = null
  #viewers = new Map<string, Viewer & { peer: Peer }>()
  #peer: Peer | null = null
  #ice: Promise<RTCIceServer[]> | null = null

  constructor(room: Room) {
    this.room = room
  }

  /** Listens until the returned function is called. That function also stops sharing. */
  begin(listen: (f: (s: Signal) => void) => () => void = (f) => this.room.onSignal(f)): () => void {
    this.#left = false
    const leave = () => {
      this.#left = true
      for (const person of this.asking.keys()) this.takeBack(person)
      this.stop()
      this.close()
    }
    const timer = setInterval(() => this.#tick(), sayEvery)
    addEventListener('pagehide', leave)
    const stops = [
      listen((s) => this.#hear(s)),
      this.room.onArrival((told) => {
        if (this.mine && told.some((t) => t.type === 'attendee_joined')) this.#say(true)
      }),
      () => clearInterval(timer),
      () => removeEventListener('pagehide', leave),
      leave,
    ]
    return () => stops.forEach((stop) => stop())
  }

  /** Starts to share the screen. Returns false if the person cancelled or the browser refused. */
  async show(only: string | null = null): Promise<boolean> {
    const asked = this.asked
    let stream
    try {
      stream = await navigator.mediaDevices.getDisplayMedia({ video: { frameRate: { max: 15 } }, audio: false })
    } catch {
      return false
    }
    this.stop()
    const [track] = stream.getVideoTracks()
    if (!track || this.#left) {
      stream.getTracks().forEach((t) => t.stop())
      return false
    }
    track.contentHint = 'detail'
    track.addEventListener('ended', () => this.#stream === stream && this.stop())
    this.#stream = stream
    this.#ask = asked?.ask ?? null
    this.#asker = asked?.from ?? null
    if (this.asked === asked) this.asked = null // another request can have arrived meanwhile
    this.mine = { share: token(), only, viewers: [] }
    this.#release = hold()
    this.#say(true)
    return true
  }

  /** Stops sharing the screen. */
  stop(): void {
    const mine = this.mine
    if (!mine) return
    for (const v of this.#viewers.values()) {
      this.room.signal(signalTo(v.person, { is: 'end', share: mine.share, to: v.id }))
      v.peer.close()
    }
    this.#viewers.clear()
    this.#stream?.getTracks().forEach((t) => t.stop())
    this.#stream = null
    this.#say(false)
    this.#release()
    this.mine = null
    this.#ask = null
  }

  /** Opens an available screen. */
  async watch(offer: Offer): Promise<void> {
    this.close()
    this.watching = { offer, state: 'connecting', stream: null }
    await this.#servers()
    if (this.watching?.offer.share !== offer.share) return
    this.room.signal(signalTo(offer.person, { is: 'watch', share: offer.share, from: this.#me }))
  }

  /** Stops watching. */
  close(): void {
    const w = this.watching
    if (!w) return
    this.#peer?.close()
    this.#peer = null
    this.watching = null
    if (w.state === 'connecting' || w.state === 'watching') this.room.signal(signalTo(w.offer.person, { is: 'leave', share: w.offer.share, from: this.#me }))
  }

  /** Asks an attendee to show their screen. The screen is not shown before the attendee agrees. */
  askFor(person: string): void {
    const id = token()
    this.asking = new Map(this.asking).set(person, { ask: id, declined: false })
    this.room.signal(signalTo(person, { is: 'ask', ask: id, from: this.#me }))
  }

  /** Cancels the request to an attendee. */
  takeBack(person: string): void {
    const a = this.asking.get(person)
    if (!a) return
    if (!a.declined) this.room.signal(signalTo(person, { is: 'over', ask: a.ask }))
    const rest = new Map(this.asking)
    rest.delete(person)
    this.asking = rest
  }

  decline(): void {
    if (this.asked) this.room.signal(signalTo(facilitator, { is: 'declined', ask: this.asked.ask }))
    this.asked = null
  }

  #hear(signal: Signal) {
    const h = heard(signal)
    if (!h) return
    switch (h.is) {
      case 'status':
        return this.#offered(h)
      case 'ask':
        if (this.room.role !== 'attendee' || h.person !== facilitator || h.ask === this.asked?.ask) return
        // Only one request is open at a time. An earlier request is declined, and so is a request
        // while a screen is shared.
        if (this.asked) this.decline()
        if (this.mine) this.room.signal(signalTo(facilitator, { is: 'declined', ask: h.ask }))
        else this.asked = { ask: h.ask, name: h.name, from: h.from }
        return
      case 'over':
        if (this.asked?.ask === h.ask) this.asked = null
        return
      case 'declined': {
        const a = this.asking.get(h.person)
        if (a?.ask === h.ask) this.asking = new Map(this.asking).set(h.person, { ...a, declined: true })
        return
      }
      case 'watch':
        return void this.#let(h)
      case 'leave':
        if (h.share === this.mine?.share && this.#viewers.get(h.from)?.person === h.person) this.#drop(h.from)
        return
      case 'full':
      case 'end':
        if (h.to === this.#me) this.#end(h.share, h.person, h.is === 'full' ? 'full' : 'ended')
        return
      case 'step':
        if (h.to === this.#me) this.#step(h)
    }
  }

  #offered(h: Extract<Heard, { is: 'status' }>) {
    if (h.share === this.mine?.share) return
    if (this.offers.some((o) => o.share === h.share && o.person !== h.person)) return // the share belongs to somebody else
    // An attendee has only one screen, so the newest offer replaces earlier offers.
    const before = this.offers.find((o) => o.share === h.share)
    const rest = this.offers.filter((o) => o.share !== h.share && (h.person === facilitator || !h.active || o.person !== h.person))
    if (!h.active) {
      if (before) this.offers = rest
      this.#end(h.share, h.person, 'ended')
      return
    }
    const a = this.asking.get(h.person)
    // An attendee's screen is for one facilitator only, but several facilitators can have the same
    // name.
    if (h.person !== facilitator && h.only !== null) {
      const mine = h.ask !== null && (h.ask === a?.ask || before !== undefined)
      if (!mine && (h.only !== this.room.you?.name || (h.ask !== null && h.only === unnamed))) return
    }
    const asked = h.person === facilitator || before?.asked === true || (a !== undefined && a.ask === h.ask)
    const offer = { share: h.share, person: h.person, name: h.name, asked, heard: Date.now() }
    this.offers = [...rest, offer]
    if (a && a.ask === h.ask) {
      this.takeBack(h.person)
      void this.watch(offer)
    }
  }

  /** Admits a viewer to one's own screen. */
  async #let({ share, from, person, name }: Extract<Heard, { is: 'watch' }>) {
    if (share !== this.mine?.share || !this.#stream) return
    // An attendee's screen is visible only to the facilitator chosen by the attendee.
    if (this.room.role === 'attendee' && (person !== facilitator || !this.#isFor(from, name))) return
    const old = this.#viewers.get(from)
    if (old && old.person !== person) return
    if (old) this.#drop(from)
    if (this.#viewers.size >= mostViewers) {
      this.room.signal(signalTo(person, { is: 'full', share, to: from }))
      return
    }
    const ice = await this.#servers()
    if (share !== this.mine?.share || !this.#stream || this.#viewers.has(from) || this.#viewers.size >= mostViewers) return
    const peer = new Peer({
      ice,
      polite: false,
      send: (step) => this.room.signal(signalTo(person, { is: 'step', share, from: this.#me, to: from, ...step })),
      state: (state) => state === 'failed' && this.#drop(from),
    })
    this.#viewers.set(from, { id: from, person, name, peer })
    this.#count()
    peer.show(this.#stream)
  }

  /**
   * Whether this person's own screen is for this facilitator. The browser that requested the screen
   * is admitted, and other browsers by the facilitator's name. After a request, the name of unnamed
   * facilitators is not enough, because several people can have it.
   */
  #isFor(from: string, name: string): boolean {
    const only = this.mine?.only ?? null
    if (only === null || from === this.#asker) return true
    return name === only && (this.#asker === null || only !== unnamed)
  }

  #step(h: Extract<Heard, { is: 'step' }>) {
    const viewer = this.#viewers.get(h.from)
    if (viewer && h.share === this.mine?.share) {
      if (viewer.person === h.person) viewer.peer.take(h)
      return
    }
    const w = this.watching
    if (!w || w.offer.share !== h.share || w.offer.person !== h.person) return
    // Without a connection, a WebRTC offer from the other side starts one.
    if (!this.#peer && h.description?.type === 'offer') this.#connect(w.offer, h.from)
    this.#peer?.take(h)
  }

  #connect(offer: Offer, other: string) {
    const now = () => this.watching?.offer.share === offer.share
    this.#peer = new Peer({
      ice: this.#known,
      polite: true,
      send: (step) => this.room.signal(signalTo(offer.person, { is: 'step', share: offer.share, from: this.#me, to: other, ...step })),
      state: (state) => {
        if (now() && state === 'failed') this.#end(offer.share, offer.person, 'lost')
      },
      track: (stream) => {
        if (now()) this.watching = { offer, state: 'watching', stream }
      },
    })
  }

  #end(share: string, person: string, state: WatchState) {
    const w = this.watching
    if (!w || w.offer.share !== share || w.offer.person !== person) return
    this.#peer?.close()
    this.#peer = null
    this.watching = { ...w, state, stream: null }
  }

  #drop(id: string) {
    this.#viewers.get(id)?.peer.close()
    if (this.#viewers.delete(id)) this.#count()
  }

  #count() {
    if (this.mine) this.mine = { ...this.mine, viewers: [...this.#viewers.values()].map(({ id, person, name }) => ({ id, person, name })) }
  }

  #say(active: boolean) {
    if (this.mine) this.room.signal(status(this.room.role, this.mine.share, active, this.mine.only, this.#ask))
  }

  #tick() {
    this.#say(true)
    const since = Date.now() - goneAfter
    if (this.offers.some((o) => o.heard < since)) this.offers = this.offers.filter((o) => o.heard >= since)
    // A closed browser sends no more status messages, so a retry would be useless.
    const w = this.watching
    if (w?.state === 'lost' && !this.offers.some((o) => o.share === w.offer.share)) this.#end(w.offer.share, w.offer.person, 'ended')
  }

  #known: RTCIceServer[] = []

  /** The ICE servers, which help two browsers to connect. Only a failed request is repeated. */
  #servers(): Promise<RTCIceServer[]> {
    this.#ice ??= ask(api.GET('/app')).then(
      (app) => (this.#known = app.ice_servers as RTCIceServer[]),
      () => {
        this.#ice = null
        return []
      },
    )
    return this.#ice
  }
}
