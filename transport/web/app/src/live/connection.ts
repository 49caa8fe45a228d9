// The connection of a screen to its codelab. It survives what networks do: it
// reconnects with patience, goes on where it was, changes to server-sent events
// where sockets are blocked, and says calmly how it stands.
import type { Address, Dial, Pipe, Place } from './pipe'
import type { Told, ServerMessage, You } from './protocol'

/** How the connection stands. */
export type Status =
  | { state: 'connecting' }
  | { state: 'connected' }
  /** Open as far as is known, but the server does not answer, or the browser says that it is offline. */
  | { state: 'doubtful' }
  /** Until when it waits for the next attempt, Unix milliseconds. */
  | { state: 'waiting'; until: number }
  /** Closed since the same person has too many of them open; it waits for a click. */
  | { state: 'elsewhere' }
  /** Over for good: signed out, removed, or the codelab is gone. */
  | { state: 'ended' }

export interface Callbacks {
  status(status: Status): void
  /** Messages in order. Those that were missed come as a batch of their own, missed says so. */
  told(messages: Told[], missed: boolean): void
  /**
   * Reads everything again; messages wait until that is done. If it rejects,
   * the connection tries again.
   */
  fresh(you: You): Promise<void>
  /** A message that was sent with this ref is stored, or was refused. */
  settled(ref: string, refused: string | null): void
  /** The connection can send. */
  ready(): void
  /** The server's time in the answer to a connection that was asked for at sent, Unix milliseconds. */
  time(now: string, sent: number): void
  /** Sockets turned out to be blocked here, or to work. */
  blocked(sockets: boolean): void
}

export interface Clock {
  now(): number
  random(): number
  after(ms: number, then: () => void): () => void
}

export const clock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  after(ms, then) {
    const timer = setTimeout(then, ms)
    return () => clearTimeout(timer)
  },
}

/** After this number of sockets that never opened, events are tried. */
const socketFailures = 2
/** Where sockets have worked, events serve for so long after an outage, and half as long again at most, milliseconds. */
const eventsAfterOutage = 60_000
const firstWait = 500
const longestWait = 15_000

const closed = { goingAway: 1001, policy: 1008, restart: 1012, slow: 1013, elsewhere: 4008 }

/** An answer takes so long at most, milliseconds; then it is doubtful whether one is connected. */
const answerWithin = 3000
/** What says nothing for so long after that is given up. */
const giveUpAfter = 7000

/**
 * After such a silence, give or take a fifth so that not all ask at once, the server is
 * asked whether it is there, milliseconds. Proxies close what is silent for a minute.
 */
const silence = 30_000
/** An event stream says so often that the server is there, milliseconds. */
export const beatWithin = 17_000
/** It answers within this, or the connection is dead, milliseconds. */
const helloWithin = 5000

export class Connection {
  #address: Address
  #dials: { socket: Dial; events: Dial }
  #on: Callbacks
  #clock: Clock

  #pipe: Pipe | null = null
  #place: Place | null = null
  /** Messages that wait until everything has been read; null if none need to. */
  #held: Told[] | null = null
  /** Counts attempts, so that events of an old one are ignored. */
  #attempt = 0
  #welcomed = false
  #failures = 0
  #neverOpened = 0
  /** When the connection was asked for, Unix milliseconds. */
  #dialled = 0
  #useEvents = false
  /** A socket was welcomed on this page: when none opens, the server is away, and sockets are not blocked. */
  #socketWorked = false
  #returnAfter: number | null = null
  #cancelWait: (() => void) | null = null
  /** Closed for another one, and not to open by itself: they would close each other. */
  #elsewhere = false
  /** The refs of messages that were sent and are not answered yet. */
  #unanswered = new Set<string>()
  #cancelDoubt: (() => void) | null = null
  #doubtful = false
  #heard = 0
  /** When something was heard last, Unix milliseconds. */
  #heardAt = 0
  #cancelSilence: (() => void) | null = null
  /** When the server was asked whether it is there, Unix milliseconds; null when it is not asked. */
  #asked: number | null = null
  /** Up to where replayed messages reach. */
  #head = 0
  #missed: Told[] = []

  /** blocked: sockets were found blocked here a moment ago, so events are tried first. */
  constructor(address: Address, dials: { socket: Dial; events: Dial }, on: Callbacks, blocked = false, time: Clock = clock) {
    this.#useEvents = blocked
    this.#address = address
    this.#dials = dials
    this.#on = on
    this.#clock = time
  }

  start(): void {
    this.#dial()
  }

  /** Ends the connection; no callback is called afterwards. */
  stop(): void {
    this.#attempt++
    this.#cancelWait?.()
    this.#cancelSilence?.()
    this.#pipe?.close()
    this.#pipe = null
  }

  /** A person asks for it now. */
  resume(): void {
    if (this.#elsewhere) this.#dial()
    else this.hurry()
  }

  /** Does not wait any longer, and finds out whether what is open is alive: the network came back, or the page did. */
  hurry(): void {
    if (this.#cancelWait) {
      this.#cancelWait()
      this.#dial()
    } else this.#verify()
  }

  /** Verifies that the server still answers. An event stream cannot ask, so a silent one is opened again. */
  #verify() {
    if (!this.ready || this.#asked !== null) return
    if (this.#useEvents) {
      if (Math.abs(this.#clock.now() - this.#heardAt) > beatWithin) this.#anew()
      return
    }
    const attempt = this.#attempt
    const heard = this.#heard
    this.#asked = this.#clock.now()
    this.#pipe?.send({ type: 'hello' })
    this.#clock.after(helloWithin, () => {
      if (attempt !== this.#attempt || this.#asked === null) return
      this.#asked = null
      if (heard === this.#heard) this.#anew()
    })
  }

  /** Leaves what is dead, and connects at once from where it was. */
  #anew() {
    this.#caughtUp()
    if (this.#held) this.#place = null // what was being read is not known
    this.#held = null
    this.#unanswered.clear()
    this.#doubtful = false
    this.#certain()
    this.#pipe?.close()
    this.#dial()
  }

  /** Waits for a silence. */
  #listen() {
    this.#cancelSilence?.()
    const attempt = this.#attempt
    const patience = silence * (0.8 + 0.4 * this.#clock.random())
    const look = () => {
      if (attempt !== this.#attempt) return
      const left = this.#heardAt + patience - this.#clock.now()
      if (left > 0 && left <= patience) {
        this.#cancelSilence = this.#clock.after(left, look)
        return
      }
      this.#verify()
      this.#cancelSilence = this.#clock.after(patience, look)
    }
    this.#cancelSilence = this.#clock.after(patience, look)
  }

  /** Whether what is sent now goes out. */
  get ready(): boolean {
    return this.#pipe !== null && this.#welcomed
  }

  send(message: object): void {
    if (!this.ready) return
    this.#pipe?.send(message)
    if ('ref' in message && typeof message.ref === 'string') this.#unanswered.add(message.ref)
    if (!this.#cancelDoubt) this.#watch()
  }

  /** The browser says that it has no network. */
  offline(): void {
    if (this.ready) this.#doubt()
  }

  /** Waits for the answers to sent messages. */
  #watch() {
    if (this.#unanswered.size === 0) return
    const attempt = this.#attempt
    this.#cancelDoubt = this.#clock.after(answerWithin, () => {
      this.#cancelDoubt = null
      if (attempt === this.#attempt && this.#unanswered.size > 0) this.#doubt()
    })
  }

  #doubt() {
    if (this.#doubtful) return
    this.#doubtful = true
    this.#on.status({ state: 'doubtful' })
    const attempt = this.#attempt
    const heard = this.#heard
    this.#cancelDoubt?.()
    this.#cancelDoubt = this.#clock.after(giveUpAfter, () => {
      this.#cancelDoubt = null
      if (attempt !== this.#attempt || heard !== this.#heard) return
      this.#pipe?.close()
      this.#closed(1006)
    })
  }

  #answered(ref: string) {
    this.#unanswered.delete(ref)
    this.#certain()
    if (!this.#cancelDoubt) this.#watch()
  }

  /** Forgets what was doubtful. */
  #certain() {
    this.#cancelDoubt?.()
    this.#cancelDoubt = null
    if (!this.#doubtful) return
    this.#doubtful = false
    if (this.ready && !this.#held) this.#on.status({ state: 'connected' })
  }

  #dial() {
    this.#cancelWait = null
    this.#cancelSilence?.()
    this.#elsewhere = false
    this.#welcomed = false
    this.#asked = null
    const attempt = ++this.#attempt
    this.#dialled = this.#clock.now()
    this.#on.status({ state: 'connecting' })
    const dial = this.#useEvents ? this.#dials.events : this.#dials.socket
    this.#pipe = dial(this.#address, this.#place, {
      messages: (batch) => {
        if (attempt !== this.#attempt) return
        this.#heard++
        this.#heardAt = this.#clock.now()
        if (this.#doubtful && this.#unanswered.size === 0) this.#certain()
        batch.forEach((m) => attempt === this.#attempt && this.#message(m, attempt))
      },
      closed: (code) => attempt === this.#attempt && this.#closed(code),
    })
  }

  #message(m: ServerMessage, attempt: number) {
    switch (m.type) {
      case 'welcome':
        this.#welcome(m, attempt)
        return
      case 'resync':
        // The welcome to a place that is out of reach has begun to read already.
        if (this.#held?.length === 0 && this.#place?.seq === m.seq) return
        this.#place = { epoch: m.epoch, seq: m.seq }
        this.#read(attempt)
        return
      case 'ack':
        if (m.ref === null) return
        this.#answered(m.ref)
        this.#on.settled(m.ref, null)
        return
      case 'error':
        if (m.ref === undefined) return
        this.#answered(m.ref)
        this.#on.settled(m.ref, m.error)
        return
      case 'reconnect':
        this.#returnAfter = m.after_ms
        return
    }
    // Message handlers see each once: a shared stream may repeat some.
    if ('seq' in m && typeof m.seq === 'number') {
      if (this.#place && m.seq <= this.#place.seq) return
      if (this.#place) this.#place = { ...this.#place, seq: m.seq }
    }
    this.#deliver(m)
  }

  #deliver(m: Told) {
    if (this.#held) {
      this.#held.push(m)
      return
    }
    if ('seq' in m && typeof m.seq === 'number' && m.seq <= this.#head) {
      this.#missed.push(m)
      if (m.seq === this.#head) this.#caughtUp()
      return
    }
    this.#caughtUp()
    this.#on.told([m], false)
  }

  /** Tells in one batch what was replayed. */
  #caughtUp() {
    const batch = this.#missed
    this.#missed = []
    this.#head = 0
    if (batch.length > 0) this.#on.told(batch, true)
  }

  #welcome(m: Extract<ServerMessage, { type: 'welcome' }>, attempt: number) {
    if (this.#welcomed) {
      // The answer to a hello.
      if (this.#asked !== null) this.#on.time(m.now, this.#asked)
      this.#asked = null
      return
    }
    this.#welcomed = true
    this.#asked = null
    this.#listen()
    this.#on.time(m.now, this.#dialled)
    this.#failures = 0
    this.#neverOpened = 0
    this.#you = m.you
    this.#socketWorked ||= !this.#useEvents
    this.#on.blocked(this.#useEvents && !this.#socketWorked)
    if (this.#useEvents && this.#socketWorked) {
      this.#clock.after(eventsAfterOutage * (1 + this.#clock.random() / 2), () => attempt === this.#attempt && this.#returnToSocket())
    }
    // A stream that tabs share can begin after messages that this tab has missed.
    const goesOn = this.#place !== null && this.#place.epoch === m.epoch && this.#place.seq >= m.seq
    if (goesOn) {
      this.#head = m.head
      // Some missed messages can be for others only, so the head is never reached. The rest
      // of a batch is delivered with the next message, or after 300 ms.
      this.#clock.after(300, () => attempt === this.#attempt && this.#caughtUp())
      this.#open()
    } else {
      this.#place = { epoch: m.epoch, seq: m.seq }
      this.#read(attempt)
    }
  }

  #you: You | null = null

  /** Has everything read again, while messages wait. */
  #read(attempt: number) {
    const you = this.#you
    if (!you) return
    const held: Told[] = []
    this.#held = held
    this.#missed = []
    this.#head = 0
    // Of two readings the later one counts: what the first has read may be older.
    const current = () => attempt === this.#attempt && this.#held === held
    this.#on.fresh(you).then(
      () => {
        if (!current()) return
        this.#held = null
        if (held.length > 0) this.#on.told(held, false)
        this.#open()
      },
      () => {
        if (!current()) return
        this.#pipe?.close()
        this.#closed(1006)
      },
    )
  }

  #open() {
    this.#on.status({ state: 'connected' })
    this.#on.ready()
  }

  #closed(code: number) {
    this.#caughtUp() // the place is behind them already
    this.#unanswered.clear()
    this.#doubtful = false
    this.#certain()
    this.#cancelSilence?.()
    this.#attempt++
    this.#pipe = null
    const opened = this.#welcomed
    this.#welcomed = false
    if (this.#held) this.#place = null // what was being read is not known
    this.#held = null
    if (code === closed.policy) {
      this.#on.status({ state: 'ended' })
      return
    }
    if (code === closed.elsewhere) {
      this.#elsewhere = true
      this.#on.status({ state: 'elsewhere' })
      return
    }
    if (!opened && !this.#useEvents && ++this.#neverOpened >= socketFailures) this.#useEvents = true
    else if (!opened && this.#useEvents) {
      this.#useEvents = !this.#socketWorked && this.#failures % 4 !== 3 // sockets may work again
      if (this.#socketWorked) this.#neverOpened = 0
    }
    this.#wait(code)
  }

  /** Goes on from the same place over a socket. */
  #returnToSocket() {
    if (this.#held) return // the next connection will
    this.#caughtUp()
    this.#useEvents = false
    this.#socketWorked = false // it may be another network by now, where they are blocked
    this.#pipe?.close()
    this.#dial()
  }

  #wait(code: number) {
    let ms: number
    if (this.#returnAfter !== null) {
      ms = this.#returnAfter
      this.#returnAfter = null
    } else {
      ms = Math.min(longestWait, firstWait * 2 ** this.#failures)
      ms = ms / 2 + this.#clock.random() * ms
      if (code === closed.slow) ms /= 4
    }
    this.#failures++
    const attempt = this.#attempt
    this.#on.status({ state: 'waiting', until: this.#clock.now() + ms })
    this.#cancelWait = this.#clock.after(ms, () => attempt === this.#attempt && this.#dial())
    const cancel = this.#cancelWait
    this.#cancelWait = () => {
      cancel()
      this.#cancelWait = null
    }
  }
}
