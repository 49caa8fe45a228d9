// A screen's connection to its codelab. It reconnects with increasing delays and resumes from its
// last position. It uses server-sent events if WebSockets are blocked, and reports its state.
import type { Address, Dial, Pipe, Place } from './pipe'
import type { Told, ServerMessage, You } from './protocol'

/** The state of the connection. */
export type Status =
  | { state: 'connecting' }
  | { state: 'connected' }
  /** Still open, but the server does not answer, or the browser reports that it is offline. */
  | { state: 'doubtful' }
  /** Not connected. until is the time of the next attempt, in Unix milliseconds. */
  | { state: 'waiting'; until: number }
  /** Closed because the same person has too many connections. A click reconnects. */
  | { state: 'elsewhere' }
  /**
   * Closed permanently, because the person signed out or was removed, or the codelab no longer
   * exists.
   */
  | { state: 'ended' }

export interface Callbacks {
  status(status: Status): void
  /**
   * Receives messages in order. Missed messages arrive as a separate batch, for which missed is
   * true.
   */
  told(messages: Told[], missed: boolean): void
  /**
   * Reads everything again. Messages are held back meanwhile. If the promise rejects, the
   * connection reconnects and retries.
   */
  fresh(you: You): Promise<void>
  /** Called when the message with this ref was stored (refused is null) or refused (the reason). */
  settled(ref: string, refused: string | null): void
  /** Called when the connection can send. */
  ready(): void
  /**
   * Receives the server's time in a response. sent is the time of the request, in Unix
   * milliseconds.
   */
  time(now: string, sent: number): void
  /** Reports whether WebSockets are blocked (true) or work (false). */
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

/** The number of consecutive WebSockets that fail to open before server-sent events are tried. */
const socketFailures = 2
/**
 * If WebSockets worked before an outage, the connection returns from server-sent events to a
 * WebSocket after this time, or up to 50% later, in milliseconds.
 */
const eventsAfterOutage = 60_000
/**
 * The wait before the first retry, and the limit up to which each further failure doubles it, in
 * milliseconds. Each wait is multiplied by a random factor from 0.5 to 1.5.
 */
const firstWait = 500
const longestWait = 15_000

const closed = { goingAway: 1001, policy: 1008, restart: 1012, slow: 1013, elsewhere: 4008 }

/**
 * The time limit for the answer to a sent message, in milliseconds. Without an answer by then, the
 * connection is doubtful.
 */
const answerWithin = 3000
/** A doubtful connection is closed after this further silence, in milliseconds. */
const giveUpAfter = 7000

/**
 * The silence after which the client checks whether the server is alive, in milliseconds. The time
 * varies at random by up to 20% in both directions, so that not all clients check simultaneously.
 * Many proxies close a connection that is silent for one minute.
 */
const silence = 30_000
/** The maximum time between two beats of an event stream, in milliseconds. */
export const beatWithin = 17_000
/**
 * The time limit for the answer to a hello, in milliseconds. If nothing is received by then, the
 * connection is dead.
 */
const helloWithin = 5000

export class Connection {
  #address: Address
  #dials: { socket: Dial; events: Dial }
  #on: Callbacks
  #clock: Clock

  #pipe: Pipe | null = null
  #place: Place | null = null
  /**
   * Messages that are held back until everything has been read, or null if nothing is being read.
   */
  #held: Told[] | null = null
  /**
   * The refs of acks that arrived while messages were held back. Their own messages are among the
   * held ones.
   */
  #acks: string[] = []
  /** Counts attempts, so that events of an earlier attempt are ignored. */
  #attempt = 0
  #welcomed = false
  #failures = 0
  #neverOpened = 0
  /** The time at which the connection was requested, in Unix milliseconds. */
  #dialled = 0
  #useEvents = false
  /**
   * Whether a WebSocket was welcomed on this page. If so, a failure to open means that the server
   * is down. Each return from server-sent events resets it.
   */
  #socketWorked = false
  /** The wait that the server asked for before the next attempt, in milliseconds, or null. */
  #returnAfter: number | null = null
  #cancelWait: (() => void) | null = null
  /**
   * Whether the server closed this connection in favour of another one. It then does not reopen
   * automatically, because the two connections would keep closing each other.
   */
  #elsewhere = false
  /** The refs of sent messages without an answer. */
  #unanswered = new Set<string>()
  #cancelDoubt: (() => void) | null = null
  #doubtful = false
  /** The number of received batches. */
  #heard = 0
  /** The time at which something was last received, in Unix milliseconds. */
  #heardAt = 0
  #cancelSilence: (() => void) | null = null
  /**
   * The time at which the last hello was sent, in Unix milliseconds, or null if no answer is
   * pending.
   */
  #asked: number | null = null
  /** The position at which the replay ends, or 0 if no replay is in progress. */
  #head = 0
  #missed: Told[] = []

  /**
   * blocked means that WebSockets were recently blocked here, so server-sent events are tried
   * first.
   */
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

  /** Ends the connection. No callback is called afterwards. */
  stop(): void {
    this.#attempt++
    this.#cancelWait?.()
    this.#cancelSilence?.()
    this.#pipe?.close()
    this.#pipe = null
  }

  /** Reconnects now, at the person's request. An open connection is only checked. */
  resume(): void {
    if (this.#elsewhere) this.#dial()
    else this.hurry()
  }

  /**
   * Called when the network is available again or the page is visible again. Reconnects
   * immediately, or checks the open connection.
   */
  hurry(): void {
    if (this.#cancelWait) {
      this.#cancelWait()
      this.#dial()
    } else this.#verify()
  }

  /**
   * Checks whether the server still responds. An event stream cannot send a hello, so a silent
   * stream is reopened.
   */
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

  /** Drops a dead connection, and reconnects immediately from the last position. */
  #anew() {
    this.#caughtUp()
    if (this.#held) this.#place = null // the data of the interrupted read is missing
    this.#held = null
    this.#unanswered.clear()
    this.#acks = [] // the messages of these acks are sent again, with the same refs
    this.#doubtful = false
    this.#certain()
    this.#pipe?.close()
    this.#dial()
  }

  /** Checks the connection each time it has been silent for too long. */
  #listen() {
    this.#cancelSilence?.()
    const attempt = this.#attempt
    const timeout = silence * (0.8 + 0.4 * this.#clock.random())
    const check = () => {
      if (attempt !== this.#attempt) return
      const left = this.#heardAt + timeout - this.#clock.now()
      if (left > 0 && left <= timeout) {
        this.#cancelSilence = this.#clock.after(left, check)
        return
      }
      this.#verify()
      this.#cancelSilence = this.#clock.after(timeout, check)
    }
    this.#cancelSilence = this.#clock.after(timeout, check)
  }

  /** Whether a message can be sent now. */
  get ready(): boolean {
    return this.#pipe !== null && this.#welcomed
  }

  send(message: object): void {
    if (!this.ready) return
    this.#pipe?.send(message)
    if ('ref' in message && typeof message.ref === 'string') this.#unanswered.add(message.ref)
    if (!this.#cancelDoubt) this.#watch()
  }

  /** Called when the browser reports that it is offline. */
  offline(): void {
    if (this.ready) this.#doubt()
  }

  /** Waits for the answers to sent messages, and makes the connection doubtful if they are late. */
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

  /** Ends the doubt about the connection. */
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
        // The welcome has already started this read, because the old position is no longer
        // available.
        if (this.#held?.length === 0 && this.#place?.seq === m.seq) return
        this.#place = { epoch: m.epoch, seq: m.seq }
        this.#read(attempt)
        return
      case 'ack':
        if (m.ref === null) return
        this.#answered(m.ref)
        if (this.#held) this.#acks.push(m.ref)
        else this.#on.settled(m.ref, null)
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
    // A shared stream can repeat messages, so messages that were already delivered are dropped.
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
      const attempt = this.#attempt
      if (m.seq === this.#head) this.#caughtUp()
      // Some missed messages can be for other people only, so that the head is never reached.
      else if (this.#missed.length === 1) this.#clock.after(300, () => attempt === this.#attempt && this.#tellMissed())
      return
    }
    this.#caughtUp()
    this.#on.told([m], false)
  }

  /** Delivers the replayed messages in one batch, and ends the replay. */
  #caughtUp() {
    this.#head = 0
    this.#tellMissed()
  }

  /** Delivers the replayed messages that have arrived in one batch. */
  #tellMissed() {
    const batch = this.#missed
    this.#missed = []
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
    // A stream shared by tabs can begin at a position after messages that this tab has missed.
    const goesOn = this.#place !== null && this.#place.epoch === m.epoch && this.#place.seq >= m.seq
    if (goesOn) {
      this.#head = m.head
      this.#open()
    } else {
      this.#place = { epoch: m.epoch, seq: m.seq }
      this.#read(attempt)
    }
  }

  #you: You | null = null

  /** Starts a read of everything and holds back messages meanwhile. */
  #read(attempt: number) {
    const you = this.#you
    if (!you) return
    const held: Told[] = []
    this.#held = held
    this.#missed = []
    this.#head = 0
    // Only the latest read counts, because an earlier read can return older data.
    const current = () => attempt === this.#attempt && this.#held === held
    this.#on.fresh(you).then(
      () => {
        if (!current()) return
        this.#held = null
        if (held.length > 0) this.#on.told(held, false)
        this.#acks.splice(0).forEach((ref) => this.#on.settled(ref, null))
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
    this.#caughtUp() // the missed messages precede the last position, from which the next attempt resumes
    this.#unanswered.clear()
    this.#acks = [] // the messages of these acks are sent again, with the same refs
    this.#doubtful = false
    this.#certain()
    this.#cancelSilence?.()
    this.#attempt++
    this.#pipe = null
    const opened = this.#welcomed
    this.#welcomed = false
    if (this.#held) this.#place = null // the data of the interrupted read is missing
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
      this.#useEvents = !this.#socketWorked && this.#failures % 4 !== 3 // every fourth attempt uses a WebSocket, because WebSockets can work again
      if (this.#socketWorked) this.#neverOpened = 0
    }
    this.#wait(code)
  }

  /** Continues from the same position over a WebSocket. */
  #returnToSocket() {
    if (this.#held) return // a read is in progress; the timer of the next connection tries again
    this.#caughtUp()
    this.#useEvents = false
    this.#socketWorked = false // the device can be in another network, which blocks WebSockets
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
