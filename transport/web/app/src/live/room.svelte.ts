// A codelab for a screen: its current state, the connection state, unsent messages, and the
// available actions.
import type { Call } from '../api/client'
import { Refused } from '../api/refused'
import { framed } from '../device/place'
import { noteTime } from '../device/now'
import { onWake } from './wake'
import { recall, remember } from '../device/remember'
import { lookForBuild } from '../offline/upgrade'
import { apply } from '../workshop/apply'
import { afterOwn } from '../workshop/own'
import { facilitator, workshop, type Again, type Attendee, type Workshop } from '../workshop/state'
import { batched } from './batches'
import { Connection, type Status } from './connection'
import { events } from './events'
import { Frames } from './frames'
import { History } from './history'
import { Listeners } from './listeners'
import type { Kept } from './outbox'
import { Meanwhile, type Assumed, type Found } from './meanwhile'
import { Outgoing } from './outgoing.svelte'
import { Probe } from './probe'
import type { Told, You } from './protocol'
import { Reads, type Role } from './reads.svelte'
import { Rereads } from './rereads'
import { socket } from './socket'
import { workedSocket } from './worked'

/** The number of missed messages after a reconnect, and when they were received. */
export interface CaughtUp {
  count: number
  at: number
}

/** The parts of a codelab that were read before its screen was shown. */
export interface First {
  me: string
  codelab: Workshop['codelab']
  steps: Workshop['steps']
  own: Attendee | null
}

/** Signals between people, which the server forwards without storing them. */
export type Signal = Extract<Told, { type: 'screen_share_status' | 'attendee_screen_status' | 'webrtc_signal' }>

/** The time for which blocked WebSockets are not retried, in milliseconds. */
const blockedFor = 10 * 60_000

export class Room {
  readonly id: string
  readonly role: Role
  /** The workshop's state, or null until it has been read. */
  now = $state.raw<Workshop | null>(null)
  status = $state.raw<Status>({ state: 'connecting' })
  caughtUp = $state.raw<CaughtUp | null>(null)
  /**
   * The reason why the codelab could not be read: it is private or no longer exists, or the session
   * has ended. null if it could be read, or if a later attempt can succeed.
   */
  refused = $state.raw<Refused | null>(null)
  you = $state.raw<You | null>(null)

  readonly #connection: Connection
  readonly #outgoing: Outgoing
  readonly #reads: Reads
  readonly #meanwhile = new Meanwhile(this)
  readonly #rereads: Rereads
  readonly #history: History
  readonly #probe: Probe
  readonly #frames = new Frames<Told>((batch) => this.#apply(batch, false))
  readonly #signals = new Listeners<[Signal]>()
  readonly #arrivals = new Listeners<[told: readonly Told[], missed: boolean]>()
  #stopped = false

  /**
   * first contains data that was already read, so that the text is shown before the connection is
   * open.
   */
  constructor(id: string, role: Role, first?: First) {
    this.id = id
    this.role = role
    this.#reads = new Reads(id, role, this)
    this.#rereads = new Rereads(this, this.#meanwhile, async (what) => {
      const { part, at } = await this.#reads.part(what)
      return { part: this.#withUnsent(part), at }
    })
    this.#history = new History(this, (before) => this.#reads.chatBefore(before))
    this.#probe = new Probe(id, role, () => this.#end())
    if (first) {
      const w = workshop(first.me, first.codelab, first.steps)
      this.now = first.own ? { ...w, people: new Map([[first.own.id, first.own]]) } : w
    }
    const dials = role === 'admin' ? { socket: workedSocket, events: batched(events) } : { socket, events }
    this.#connection = new Connection(
      { codelab: id, as: role, framed },
      dials,
      {
        status: (s) => {
          if (s.state === 'connected' && this.status.state === 'connecting' && this.you) lookForBuild()
          this.status = s
          if (s.state === 'waiting') void this.#probe.look()
        },
        told: (messages, missed) => this.#told(messages, missed),
        fresh: (you) => this.#fresh(you),
        settled: (ref, refused) => this.#settled(ref, refused),
        ready: () => this.#outgoing.flush(),
        time: (now, sent) => noteTime(now, sent),
        blocked: (sockets) => remember('sockets-blocked', sockets ? Date.now() : undefined),
      },
      Date.now() - recall('sockets-blocked', 0) < blockedFor,
    )
    this.#outgoing = new Outgoing(id, this.#connection, () => this.now?.chat.filter((c) => c.sender_id === this.now?.me) ?? [])
    if (first) this.#outgoing.open(first.me)
  }

  /** Connects. Call the returned function to leave. */
  enter(): () => void {
    this.#connection.start()
    const asleep = onWake(() => this.#connection.hurry())
    const offline = () => this.#connection.offline()
    addEventListener('offline', offline)
    return () => {
      this.#stopped = true
      asleep()
      removeEventListener('offline', offline)
      this.#connection.stop()
      this.#rereads.stop()
      this.#frames.stop()
    }
  }

  /** Reconnects now, at the person's request. */
  hurry(): void {
    this.#connection.resume()
  }

  /** Adds a listener for signals. The returned function removes it. */
  onSignal(f: (s: Signal) => void): () => void {
    return this.#signals.add(f)
  }

  /**
   * Adds a listener for arriving messages. It is called after the messages were applied to the
   * state.
   */
  onArrival(f: (told: readonly Told[], missed: boolean) => void): () => void {
    return this.#arrivals.add(f)
  }

  /** The messages that the server has not stored yet. */
  get outbox(): readonly Kept[] {
    return this.#outgoing.waiting
  }

  get quizzes() {
    return this.#reads.quizzes
  }

  get materials() {
    return this.#reads.materials
  }

  /**
   * Queues a message until the server has stored it, and shows its effect on the person's own
   * record immediately. Returns false if the outbox is full or not open yet.
   */
  say(message: Kept['message']): boolean {
    if (!this.#outgoing.say(message)) return false
    const at = Date.now()
    this.assume((w) => {
      const own = w.people.get(w.me)
      const next = own && afterOwn(own, message, at)
      return next && next !== own ? { people: new Map(w.people).set(next.id, next) } : {}
    })
    return true
  }

  sayAgain(ref: string): void {
    this.#outgoing.again(ref)
  }

  discard(ref: string): void {
    this.#outgoing.discard(ref)
  }

  /** Sends a signal. It is lost if this page or the recipient is not connected. */
  signal(message: object): void {
    this.#connection.send(message)
  }

  /** Loads older chat messages. */
  older(): Promise<void> {
    return this.#history.older()
  }

  /**
   * Drops all but the newest chat messages. Called while the person is not reading older messages.
   */
  trim(keep: number): void {
    this.#history.trim(keep)
  }

  /**
   * Applies the person's own change immediately. The stream or a read confirms the change later.
   */
  assume(change: Assumed): void {
    if (!this.now) return
    this.#meanwhile.add(change)
    this.now = { ...this.now, ...change(this.now) }
  }

  /**
   * Applies the result of a request. Messages and own changes that arrive during the request are
   * not lost.
   */
  async find(read: () => Promise<Found>): Promise<void> {
    await this.#meanwhile.read(read)
  }

  /**
   * Applies the response to a request that changes something, and returns the response. Messages
   * that arrived during the request can be newer than the response. They stay applied. If such a
   * message reported a part as changed, the part is read again.
   */
  async request<T>(call: Call<T>, part: (data: T, now: Workshop) => Partial<Workshop>): Promise<T> {
    const { data, again } = await this.#meanwhile.request(call, part)
    if (this.now && again.size > 0) {
      this.now = { ...this.now, again: new Set([...this.now.again, ...again]) }
      this.#rereads.soon()
    }
    return data
  }

  /** Reads a part again now. */
  read(what: Again): Promise<void> {
    return this.#rereads.now(what)
  }

  /**
   * Returns a person's name: the last known name in the state, or else the name on the server.
   */
  async nameOf(id: string): Promise<string> {
    const w = this.now
    const known = w?.people.get(id)?.name ?? w?.chat.findLast((c) => c.sender_id === id)?.sender_name
    return known ?? (await this.#reads.attendee(id)).name
  }

  #end() {
    if (this.#stopped) return
    this.#connection.stop()
    this.status = { state: 'ended' }
  }

  /** Reads the text, then everything else. */
  async #fresh(you: You): Promise<void> {
    try {
      this.you = you
      this.#outgoing.open(you.id)
      this.#meanwhile.clear()
      const text = await this.#reads.text()
      const me = you.role === 'admin' ? facilitator : you.id
      // The text is shown as soon as it has arrived, before everything else.
      if (!this.now) this.now = workshop(me, text.codelab, text.steps)
      await this.#meanwhile.read(async () => ({ part: { ...text, again: new Set<Again>(), ...this.#withUnsent(await this.#reads.others()) }, at: null }))
      this.refused = null
    } catch (e) {
      if (e instanceof Refused && e.status >= 400 && e.status < 500 && e.status !== 429) this.refused = e
      throw e
    }
  }

  /** Applies the unsent messages to a part, because the server does not have them yet. */
  #withUnsent(part: Partial<Workshop>): Partial<Workshop> {
    const own = part.people?.get(this.you?.id ?? '')
    if (!own) return part
    const next = this.#outgoing.entries.reduce((a, e) => afterOwn(a, e.message, e.at), own)
    return next === own ? part : { ...part, people: new Map(part.people).set(own.id, next) }
  }

  #told(messages: Told[], missed: boolean) {
    const rest: Told[] = []
    for (const m of messages) {
      if (m.type === 'screen_share_status' || m.type === 'attendee_screen_status' || m.type === 'webrtc_signal') this.#signals.tell(m)
      else rest.push(m)
    }
    if (rest.length === 0) return
    if (!missed) {
      this.#frames.add(rest)
      return
    }
    const count = rest.filter((m) => m.type === 'chat' || m.type === 'dm').length
    if (count > 0) this.caughtUp = { count, at: Date.now() }
    this.#apply(rest, true)
  }

  #apply(batch: Told[], missed: boolean) {
    if (!this.now) return
    this.#meanwhile.add(...batch)
    this.now = apply(this.now, batch)
    this.#arrivals.tell(batch, missed)
    this.#rereads.soon()
  }

  #settled(ref: string, refused: string | null) {
    // The server sends the stored message before its ack. Flushing shows the stored message at the
    // moment when the waiting one disappears.
    this.#frames.flush()
    const said = this.#outgoing.entries.find((e) => e.ref === ref)?.message
    // The server does not send a direct message back to the connection that sent it.
    if (this.#outgoing.settled(ref, refused)?.message.type === 'dm') void this.read('chat').catch(() => {})
    // The effect of a refused message is reverted.
    if (refused === null || this.#outgoing.entries.some((e) => e.ref === ref)) return
    if (said?.type === 'step_progress' || said?.type === 'pulse') void this.read('attendees').catch(() => {})
    if (said?.type === 'tick') this.#arrivals.tell([{ ...said, done: said['done'] !== true } as unknown as Told], false)
  }
}
