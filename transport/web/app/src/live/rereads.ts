// Reads parts of the state again if messages reported a change without the new value.
import { readAgain } from '../workshop/apply'
import type { Again } from '../workshop/state'
import type { Found, Holder, Meanwhile } from './meanwhile'

export class Rereads {
  readonly #holder: Holder
  readonly #meanwhile: Meanwhile
  readonly #part: (what: Again) => Promise<Found>
  readonly #reading = new Set<Again>()
  #stopped = false

  constructor(holder: Holder, meanwhile: Meanwhile, part: (what: Again) => Promise<Found>) {
    this.#holder = holder
    this.#meanwhile = meanwhile
    this.#part = part
  }

  /** Reads all marked parts soon. Repeated calls read each part only once. */
  soon(): void {
    for (const what of this.#holder.now?.again ?? []) void this.#read(what)
  }

  /**
   * Reads one part now. If that fails, it marks the part for the next call of soon(), and throws
   * the error.
   */
  async now(what: Again): Promise<void> {
    const holder = this.#holder
    if (!holder.now) return
    holder.now = readAgain(holder.now, what) // a change during the read marks the part again
    try {
      // The node that answered can lack a change that a message has already reported.
      const again = await this.#meanwhile.read(() => this.#part(what))
      if (again.size === 0 || !holder.now || this.#stopped) return
      holder.now = { ...holder.now, again: new Set([...holder.now.again, ...again]) }
      for (const part of again) void this.#read(part)
    } catch (e) {
      if (holder.now && !this.#stopped) holder.now = { ...holder.now, again: new Set(holder.now.again).add(what) }
      throw e
    }
  }

  stop(): void {
    this.#stopped = true
  }

  async #read(what: Again): Promise<void> {
    if (this.#reading.has(what)) return
    this.#reading.add(what)
    let more = false
    try {
      // A thousand clients receive the change at the same time, so each of them waits for a random
      // time before it reads.
      await new Promise((done) => setTimeout(done, 50 + Math.random() * (what === 'attendees' || what === 'polls' ? 1500 : 400)))
      if (this.#stopped) return
      await this.now(what)
      more = this.#holder.now?.again.has(what) ?? false // the part changed during the read
    } catch {
      // The client is offline, or the server refused the read. The next resync or change triggers
      // another read.
    } finally {
      this.#reading.delete(what)
    }
    if (more) void this.#read(what)
  }
}
