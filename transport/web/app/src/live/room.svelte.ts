// A codelab as a screen holds it: what is true, how the connection stands, what
// is on its way, and what one can do.
import { api, ask } from '../api/client'
import { Refused } from '../api/refused'
import { noteTime } from '../device/now'
import { recall, remember } from '../device/remember'
import { apply, readAgain } from '../workshop/apply'
import { heldFrom, mergeChat, ofRoom } from '../workshop/chat'
import { facilitator, workshop, type Again, type Attendee, type ChatMessage, type Quiz, type Material, type Workshop } from '../workshop/state'
import { batched } from './batches'
import { Connection, type Status } from './connection'
import { events } from './events'
import { deviceStorage, Outbox, type Kept } from './outbox'
import type { Told, You } from './protocol'
import { Sender } from './sender'
import { socket } from './socket'
import { workedSocket } from './worked'

export type Role = 'admin' | 'attendee'

/** How many messages were caught up with, and when. */
export interface CaughtUp {
  count: number
  at: number
}

/** What was read of a codelab before its screen was there. */
export interface First {
  me: string
  codelab: Workshop['codelab']
  steps: Workshop['steps']
  own: Attendee | null
}

/** Signals between people pass through and are kept nowhere. */
export type Signal = Extract<Told, { type: 'screen_share_status' | 'attendee_screen_status' | 'webrtc_signal' }>

const chatPage = 200
/** The largest page that the server gives. */
const deepPage = 1000

/** For so long sockets are not tried again where they were blocked, milliseconds. */
const blockedFor = 10 * 60_000

export class Room {
  readonly id: string
  readonly role: Role
  /** What is true; null until it has been read. */
  now = $state.raw<Workshop | null>(null)
  status = $state.raw<Status>({ state: 'connecting' })
  outbox = $state.raw<readonly Kept[]>([])
  caughtUp = $state.raw<CaughtUp | null>(null)
  /** Why the codelab could not be read: it is private, gone, or one is signed out. */
  refused = $state.raw<Refused | null>(null)
  you = $state.raw<You | null>(null)
  quizzes = $state.raw<readonly Quiz[] | null>(null)
  materials = $state.raw<readonly Material[] | null>(null)

  #connection: Connection
  #out: Outbox | null = null
  #sender: Sender | null = null
  #pending: Told[] = []
  /** Takes back the next time that what is pending is applied. */
  #frame: (() => void) | null = null
  #signals = new Set<(s: Signal) => void>()
  #arrivals = new Set<(told: readonly Told[], missed: boolean) => void>()
  #reading = new Set<Again>()
  #stopped = false

  /** first is what has been read already, so that the text need not wait for the connection. */
  constructor(id: string, role: Role, first?: First) {
    this.id = id
    this.role = role
    if (first) {
      const w = workshop(first.me, first.codelab, first.steps)
      this.now = first.own ? { ...w, people: new Map([[first.own.id, first.own]]) } : w
    }
    const dials = role === 'admin' ? { socket: workedSocket, events: batched(events) } : { socket, events }
    this.#connection = new Connection(
      { codelab: id, as: role },
      dials,
      {
        status: (s) => {
          this.status = s
          if (s.state === 'waiting') void this.#probe()
        },
        told: (messages, missed) => this.#told(messages, missed),
        fresh: (you) => this.#fresh(you),
        settled: (ref, refused) => this.#settled(ref, refused),
        ready: () => void this.#sender?.flush(),
        blocked: (sockets) => remember('sockets-blocked', sockets ? Date.now() : undefined),
      },
      Date.now() - recall('sockets-blocked', 0) < blockedFor,
    )
    if (first) this.#open(first.me)
  }

  /** Connects; call the returned function to leave. */
  enter(): () => void {
    this.#connection.start()
    const hurry = () => this.#connection.hurry()
    const offline = () => this.#connection.offline()
    addEventListener('online', hurry)
    addEventListener('offline', offline)
    return () => {
      this.#stopped = true
      removeEventListener('online', hurry)
      removeEventListener('offline', offline)
      this.#connection.stop()
      this.#frame?.()
    }
  }

  /** Connects at once: a person asks for it. */
  hurry(): void {
    this.#connection.resume()
  }

  /** Called with signals until the returned function is. */
  onSignal(f: (s: Signal) => void): () => void {
    this.#signals.add(f)
    return () => this.#signals.delete(f)
  }

  /** Called with what arrives, after it is part of what is true. */
  onArrival(f: (told: readonly Told[], missed: boolean) => void): () => void {
    this.#arrivals.add(f)
    return () => this.#arrivals.delete(f)
  }

  /** Says a message that is kept until the server has it. False when too many wait. */
  say(message: Kept['message']): boolean {
    const entry = this.#out?.add(message, Date.now())
    if (!entry) return false
    if (this.#connection.ready) void this.#sender?.flush(entry)
    return true
  }

  sayAgain(ref: string): void {
    if (this.#out?.again(ref, Date.now())) void this.#sender?.flush()
  }

  discard(ref: string): void {
    this.#out?.done(ref)
  }

  /** Sends a signal; it is lost when nobody is connected. */
  signal(message: object): void {
    this.#connection.send(message)
  }

  /** Fetches older messages of the chat. */
  async older(): Promise<void> {
    const w = this.now
    const first = w?.chat[0]
    if (!w || !first || !w.olderChat) return
    const page = await ask(api.GET('/codelabs/{id}/chat', { params: { path: { id: this.id }, query: { ...this.#as, before: first.id, limit: chatPage } } }))
    const now = this.now
    if (!now || now.chat[0]?.id !== first.id) return
    this.now = { ...now, chat: [...page, ...now.chat], olderChat: page.length === chatPage }
  }

  /** Lets go of all but the newest messages, while nobody looks at older ones. */
  trim(keep: number): void {
    const w = this.now
    if (!w || w.chat.length <= 2 * keep) return
    const from = heldFrom(w.chat, keep)
    if (from > 0) this.now = { ...w, chat: w.chat.slice(from), olderChat: true }
  }

  /** Changes one's own view at once; the stream or a read confirms it. */
  assume(change: (w: Workshop) => Partial<Workshop>): void {
    if (this.now) this.now = { ...this.now, ...change(this.now) }
  }

  /** Reads something again now. */
  async read(what: Again): Promise<void> {
    const w = this.now
    if (w) this.now = readAgain(w, what, await this.#part(what))
  }

  #probing = false

  /** A socket does not say why it does not open: the session may be over. */
  async #probe(): Promise<void> {
    if (this.#probing) return
    this.#probing = true
    try {
      const session = await ask(api.GET('/session', { params: { query: this.role === 'attendee' ? { codelab_id: this.id } : {} } }))
      if (session.role !== this.role) this.#end()
    } catch (e) {
      if (e instanceof Refused && e.status === 401) this.#end()
    } finally {
      this.#probing = false
    }
  }

  #end() {
    if (this.#stopped) return
    this.#connection.stop()
    this.status = { state: 'ended' }
  }

  /** Opens the outbox of a person, with what an earlier page has left in it. */
  #open(person: string) {
    this.#out ??= new Outbox(`${this.id}:${person}`, deviceStorage(), (entries) => (this.outbox = entries))
    this.#sender ??= new Sender(this.#out, this.#connection, () => this.now?.chat.filter((c) => c.sender_id === this.now?.me) ?? [])
  }

  get #as() {
    return { as: this.role } as { as?: 'admin' | 'attendee' }
  }

  get #path() {
    return { params: { path: { id: this.id }, query: this.#as } }
  }

  /** Reads everything, and then what was told since. */
  async #fresh(you: You): Promise<void> {
    try {
      const first = this.you === null
      this.you = you
      if (first) this.#open(you.id)
      const text = await this.#text()
      const me = you.role === 'admin' ? facilitator : you.id
      // The text is shown as soon as it is here, the rest follows.
      if (!this.now) this.now = workshop(me, text.codelab, text.steps)
      const parts = await Promise.all([
        this.#part('attendees'),
        this.#part('chat'),
        this.#part('threads'),
        this.#help(),
        this.#part('quizzes'),
        this.#part('materials'),
      ])
      const before = this.now
      this.now = Object.assign({ ...before, ...text, again: new Set<Again>() }, ...parts) as Workshop
      this.refused = null
    } catch (e) {
      if (e instanceof Refused && e.status >= 400 && e.status < 500 && e.status !== 429) this.refused = e
      throw e
    }
  }

  async #text(): Promise<Pick<Workshop, 'codelab' | 'steps'>> {
    const [codelab, steps] = (await ask(api.GET('/codelabs/{id}', this.#path))) as unknown as [Workshop['codelab'], Workshop['steps']]
    return { codelab, steps }
  }

  /** One's own record: a class of thousands would be megabytes. */
  async #own(): Promise<[string, Attendee]> {
    const id = this.you?.id ?? ''
    return [id, await ask(api.GET('/codelabs/{id}/attendees/{attendee_id}', { params: { path: { id: this.id, attendee_id: id }, query: this.#as } }))]
  }

  /** The name of a person: as they last signed, or as the server knows them. */
  async nameOf(id: string): Promise<string> {
    const w = this.now
    const known = w?.people.get(id)?.name ?? w?.chat.findLast((c) => c.sender_id === id)?.sender_name
    if (known !== undefined) return known
    const a = await ask(api.GET('/codelabs/{id}/attendees/{attendee_id}', { params: { path: { id: this.id, attendee_id: id }, query: this.#as } }))
    return a.name
  }

  async #help(): Promise<Partial<Workshop>> {
    // An attendee is told of all that they ever asked; the room has what is open.
    const all = await ask(api.GET('/codelabs/{id}/help', this.#path))
    return { help: all.filter((h) => h.status !== 'resolved') }
  }

  async #part(what: Again): Promise<Partial<Workshop>> {
    switch (what) {
      case 'codelab':
        return this.#text()
      case 'attendees': {
        if (this.role === 'attendee') return { people: new Map([await this.#own()]) }
        // Who is here first: arrivals that are told meanwhile are added to it.
        const [people, here] = await Promise.all([
          ask(api.GET('/codelabs/{id}/attendees', this.#path)),
          ask(api.GET('/codelabs/{id}/presence', { params: { path: { id: this.id } } })),
        ])
        return { people: new Map(people.map((a: Attendee) => [a.id, a])), here: new Set(here.attendee_ids) }
      }
      case 'chat': {
        const newest = (limit: number): Promise<ChatMessage[]> =>
          ask(api.GET('/codelabs/{id}/chat', { params: { path: { id: this.id }, query: { ...this.#as, limit } } }))
        let limit = chatPage
        let chat = await newest(limit)
        // One message to hundreds is hundreds of direct ones: the room's are behind them.
        if (chat.length === limit && ofRoom(chat).length === 0) chat = await newest((limit = deepPage))
        const held = this.now?.chat ?? []
        const merged = mergeChat(held, chat)
        return { chat: merged, olderChat: merged.length > chat.length ? this.now!.olderChat : chat.length === limit }
      }
      case 'threads':
        return { threads: await ask(api.GET('/codelabs/{id}/inline-comments', this.#path)) }
      case 'quizzes':
        this.quizzes = await ask(api.GET('/codelabs/{id}/quizzes', this.#path))
        return {}
      case 'materials':
        this.materials = await ask(api.GET('/codelabs/{id}/materials', this.#path))
        return {}
    }
  }

  #told(messages: Told[], missed: boolean) {
    const rest: Told[] = []
    for (const m of messages) {
      if (m.type === 'screen_share_status' || m.type === 'attendee_screen_status' || m.type === 'webrtc_signal') {
        for (const f of this.#signals) f(m)
      } else {
        rest.push(m)
      }
    }
    if (rest.length === 0) return
    const stamped = missed ? undefined : rest.findLast((m) => 'ts' in m && typeof m.ts === 'string')
    if (stamped && 'ts' in stamped) noteTime(stamped.ts as string)
    if (missed) {
      const count = rest.filter((m) => m.type === 'chat' || m.type === 'dm').length
      if (count > 0) this.caughtUp = { count, at: Date.now() }
      this.#apply(rest, true)
      return
    }
    this.#pending.push(...rest)
    if (this.#frame) return
    const flush = () => {
      this.#frame = null
      const batch = this.#pending
      this.#pending = []
      this.#apply(batch, false)
    }
    this.#frame = nextFrame(flush)
  }

  #apply(batch: Told[], missed: boolean) {
    if (!this.now) return
    this.now = apply(this.now, batch)
    for (const f of this.#arrivals) f(batch, missed)
    for (const what of this.now.again) void this.#readSoon(what)
  }

  /** Reads what has changed, once, however often that was said. */
  async #readSoon(what: Again): Promise<void> {
    if (this.#reading.has(what)) return
    this.#reading.add(what)
    try {
      // A thousand clients hear of the change at the same moment.
      await new Promise((done) => setTimeout(done, 50 + Math.random() * (what === 'attendees' ? 1500 : 400)))
      const w = this.now
      if (!w || this.#stopped) return
      this.now = readAgain(w, what, {})
      const part = await this.#part(what)
      if (this.now) this.now = { ...this.now, ...part }
    } catch {
      // Offline: a resync or the next change reads it.
      if (this.now && !this.#stopped) this.now = { ...this.now, again: new Set(this.now.again).add(what) }
    } finally {
      this.#reading.delete(what)
    }
  }

  #settled(ref: string, refused: string | null) {
    // A direct message is not told to the tab that sent it.
    if (this.#sender?.settled(ref, refused)?.message.type === 'dm') void this.read('chat').catch(() => {})
  }
}

/** Calls f before the next picture is drawn, or soon when none is. */
function nextFrame(f: () => void): () => void {
  if (document.visibilityState === 'hidden') {
    const timer = setTimeout(f, 250)
    return () => clearTimeout(timer)
  }
  const frame = requestAnimationFrame(f)
  return () => cancelAnimationFrame(frame)
}
