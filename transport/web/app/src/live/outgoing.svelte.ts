// The messages of a person. Each stays on the device until the server has stored it.
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

  /** own: the messages of this person that are known to be stored. */
  constructor(codelab: string, line: Line, own: () => readonly ChatMessage[]) {
    this.#codelab = codelab
    this.#line = line
    this.#own = own
  }

  /** Opens the outbox of a person, with the messages that an earlier page has left in it. Later calls change nothing. */
  open(person: string): void {
    this.#out ??= new Outbox(`${this.#codelab}:${person}`, deviceStorage(), (entries) => (this.entries = entries))
    this.#sender ??= new Sender(this.#out, this.#line, this.#own)
  }

  /** Keeps a message, and sends it if the line is ready. False when too many wait, or nobody is known yet. */
  say(message: Kept['message']): boolean {
    const entry = this.#out?.add(message, Date.now())
    if (!entry) return false
    void this.#sender?.flush(entry)
    return true
  }

  /** Sends a refused message once more. */
  again(ref: string): void {
    if (this.#out?.again(ref, Date.now())) this.flush()
  }

  discard(ref: string): void {
    this.#out?.done(ref)
  }

  /** Sends all that waits. */
  flush(): void {
    void this.#sender?.flush()
  }

  /** The server has stored a message, which is returned, or refused it. */
  settled(ref: string, refused: string | null): Kept | null {
    return this.#sender?.settled(ref, refused) ?? null
  }
}
