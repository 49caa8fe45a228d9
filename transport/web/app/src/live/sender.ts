// Sends the messages of the outbox within the server's rate limit, and again if necessary. Messages
// that have already arrived are left out.
import { serverNow } from '../device/now'
import type { ChatMessage } from '../workshop/state'
import { arrived } from './arrived'
import type { Kept, Outbox } from './outbox'

/** The connection for sending messages. */
export interface Line {
  readonly ready: boolean
  send(message: object): void
}

/**
 * The number of messages in the initial burst, and the pause before each later message, in
 * milliseconds. The server accepts bursts of 40, and 20 messages per second.
 */
const burst = 25
const between = 60
/** The wait before a message over the rate limit is sent again, in milliseconds. */
const later = () => 2000 + Math.random() * 2000

export class Sender {
  readonly #out: Outbox
  readonly #line: Line
  readonly #own: () => readonly ChatMessage[]
  readonly #pause: (ms: number) => Promise<unknown>
  /** The refs that the current flush has sent. A later flush replaces the set. */
  #sending: Set<string> | null = null

  /** own returns the known messages of this person. */
  constructor(
    out: Outbox,
    line: Line,
    own: () => readonly ChatMessage[],
    pause = (ms: number): Promise<unknown> => new Promise((done) => setTimeout(done, ms)),
  ) {
    this.#out = out
    this.#line = line
    this.#own = own
    this.#pause = pause
  }

  /**
   * Sends all waiting messages, oldest first, or only one entry. Messages written during a long
   * flush are sent at the end of that flush.
   */
  async flush(only?: Kept): Promise<void> {
    if (only && this.#sending) {
      this.#sending.delete(only.ref) // so that the running flush sends the entry
      return
    }
    for (const ref of arrived(this.#out.doubtful(serverNow()), this.#own())) this.#out.done(ref)
    const sent = new Set<string>()
    this.#sending = sent
    let count = 0
    for (let e = only; this.#line.ready && this.#sending === sent;) {
      e ??= this.#out.waiting().find((w) => !sent.has(w.ref))
      if (!e) break
      sent.add(e.ref)
      if (this.#out.send(e.ref, serverNow())) {
        this.#line.send(e.message)
        if (++count >= burst) await this.#pause(between)
      }
      if (only) break
      e = undefined
    }
    if (this.#sending === sent) this.#sending = null
  }

  /**
   * Handles the server's answer to a message. Returns the message if it was stored, or null if it
   * was refused or is no longer in the outbox.
   */
  settled(ref: string, refused: string | null): Kept | null {
    const entry = this.#out.entries.find((e) => e.ref === ref)
    if (!entry) return null
    if (refused === null) {
      this.#out.done(ref)
      return entry
    }
    // A message that only exceeded the rate limit is valid, so it is sent again later.
    if (/\btoo many (messages|requests)\b|\brate limit|\bslow down\b/i.test(refused)) void this.#pause(later()).then(() => this.flush(entry))
    else this.#out.refused(ref, refused)
    return null
  }
}
