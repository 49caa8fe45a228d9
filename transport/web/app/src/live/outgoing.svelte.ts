// A person's messages that the server has not stored yet. Until then they are stored on the device.
import type { ChatMessage } from '../workshop/state'
import { isSame, paired } from './arrived'
import { deviceStorage, Outbox, type Kept } from './outbox'
import { Sender, type Line } from './sender'

export class Outgoing {
  /** The messages that the server has not stored yet, oldest first. */
  entries = $state.raw<readonly Kept[]>([])
  /**
   * The entries to show as waiting. The stream can deliver a stored message a moment before its
   * acknowledgement. Such an entry is left out, so that the message is not shown twice.
   */
  readonly waiting = $derived.by(() => this.#withoutStored())
  readonly #codelab: string
  readonly #line: Line
  readonly #own: () => readonly ChatMessage[]
  #out: Outbox | null = null
  #sender: Sender | null = null
  /**
   * For each message sent on this page, by ref, the ids of the earlier messages with the same type,
   * text and recipient.
   */
  readonly #earlier = new Map<string, Set<string>>()

  /** own returns this person's messages that are known to be stored. */
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
    this.#begin(entry)
    void this.#sender?.flush(entry)
    return true
  }

  /** Sends a refused message again. */
  again(ref: string): void {
    const entry = this.#out?.again(ref, Date.now())
    if (!entry) return
    this.#earlier.delete(ref)
    this.#begin(entry)
    this.flush()
  }

  #begin(entry: Kept) {
    const same = this.#own().filter((c) => isSame(c, entry))
    this.#earlier.set(entry.ref, new Set(same.map((c) => c.id)))
  }

  #withoutStored(): readonly Kept[] {
    if (this.entries.length === 0) return this.entries
    const stored = this.#stored()
    return this.entries.filter((e) => !stored.has(e.ref))
  }

  /**
   * Returns the ids of stored messages by the refs of their entries. Each stored message belongs to
   * only one entry, so a text that was sent twice is shown twice.
   */
  #stored(): Map<string, string> {
    return paired(this.entries, this.#own(), (e, c) => e.refused === null && isSame(c, e) && this.#earlier.get(e.ref)?.has(c.id) === false)
  }

  discard(ref: string): void {
    this.#earlier.delete(ref)
    this.#out?.done(ref)
  }

  /** Sends all waiting messages. */
  flush(): void {
    void this.#sender?.flush()
  }

  /**
   * Handles the server's answer to a message. Returns the message if it was stored, or null if it
   * was refused or is no longer in the outbox.
   */
  settled(ref: string, refused: string | null): Kept | null {
    const id = this.#stored().get(ref)
    const entry = this.#sender?.settled(ref, refused) ?? null
    if (entry) {
      this.#earlier.delete(ref)
      if (id !== undefined) for (const earlier of this.#earlier.values()) earlier.add(id)
    }
    return entry
  }
}
