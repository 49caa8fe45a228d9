// Sends what the outbox holds: not faster than the server takes it, once more
// when it was too fast, and nothing that has arrived already.
import { serverNow } from '../device/now'
import type { ChatMessage } from '../workshop/state'
import { arrived } from './arrived'
import type { Kept, Outbox } from './outbox'

/** The connection that messages are sent through. */
export interface Line {
  readonly ready: boolean
  send(message: object): void
}

/** The number of messages that are sent at once, before the rest one by one. The server takes bursts of 40, and 20 per second. */
const burst = 25
const between = 60
/** The wait before a message that came too fast is sent again, milliseconds. */
const later = () => 2000 + Math.random() * 2000

export class Sender {
  readonly #out: Outbox
  readonly #line: Line
  readonly #own: () => readonly ChatMessage[]
  readonly #pause: (ms: number) => Promise<unknown>
  /** The refs that the current flush has sent; a later flush takes over. */
  #sending: Set<string> | null = null

  /** own: one's messages as far as they are known. */
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
   * Sends all waiting messages, the oldest first, or one entry alone. Messages that are
   * written during a long flush are sent after it.
   */
  async flush(only?: Kept): Promise<void> {
    if (only && this.#sending) {
      this.#sending.delete(only.ref) // it waits, so it comes in its turn
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

  /** The server has stored a message, which is given, or refused it. */
  settled(ref: string, refused: string | null): Kept | null {
    const entry = this.#out.entries.find((e) => e.ref === ref)
    if (!entry) return null
    if (refused === null) {
      this.#out.done(ref)
      return entry
    }
    // Not a word against the message itself.
    if (/too many|rate|slow down/i.test(refused)) void this.#pause(later()).then(() => this.flush(entry))
    else this.#out.refused(ref, refused)
    return null
  }
}
