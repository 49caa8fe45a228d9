// A person's messages that the server has not stored yet. Until then they are stored on the device.
import type { ChatMessage } from '../workshop/state'
import { deviceStorage, Outbox, type Kept } from './outbox'
import { Sender, type Line } from './sender'

export class Outgoing {
  /** The messages that the server has not stored yet, oldest first. */
  entries = $state.raw<readonly Kept[]>([])
  readonly #codelab: string
  readonly #line: Line
  readonly #own: () => readonly ChatMessage[]
  #out: Outbox | null = null
  #sender: Sender | null = null

  /** own contains this person's messages that are known to be stored. */
  constructor(codelab: string, line: Line, own: () => readonly ChatMessage[]) {
    this.#codelab = codelab
    this.#line = line
    this.#own = own
  }

  /** Opens a person's outbox, with the entries of earlier pages. Later calls have no effect. */
  open(person: string): void {
    this.#out ??= new Outbox(`${this.#codelab}:${person}`, deviceStorage(), (entries) => (this.entries = entries))
    this.#sender ??= new Sender(this.#out, this.#line, this.#own)
  }

  /**
   * Queues a message, and sends it if possible. Returns false if the outbox is full or not open
   * yet.
   */
  say(message: Kept['message']): boolean {
    const entry = this.#out?.add(message, Date.now())
    if (!entry) return false
    void this.#sender?.flush(entry)
    return true
  }

  /** Sends a refused message again. */
  again(ref: string): void {
    if (this.#out?.again(ref, Date.now())) this.flush()
  }

  discard(ref: string): void {
    this.#out?.done(ref)
  }

  /** Sends all waiting messages. */
  flush(): void {
    void this.#sender?.flush()
  }

  /**
   * Handles the server's answer to a message. Returns the message if it was stored, or null if it
   * was refused.
   */
  settled(ref: string, refused: string | null): Kept | null {
    return this.#sender?.settled(ref, refused) ?? null
  }
}
