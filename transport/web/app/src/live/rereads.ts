// Reads parts of the state again if messages reported a change without the new value.
import { readAgain } from '../workshop/apply'
import type { Again, Workshop } from '../workshop/state'

/** The owner of the state. */
interface Holder {
  now: Workshop | null
}

export class Rereads {
  readonly #holder: Holder
  readonly #part: (what: Again) => Promise<Partial<Workshop>>
  readonly #reading = new Set<Again>()
  #stopped = false

  constructor(holder: Holder, part: (what: Again) => Promise<Partial<Workshop>>) {
    this.#holder = holder
    this.#part = part
  }

  /** Reads all marked parts soon. Repeated calls read each part only once. */
  soon(): void {
    for (const what of this.#holder.now?.again ?? []) void this.#read(what)
  }

  /** Reads one part now. */
  async now(what: Again): Promise<void> {
    const w = this.#holder.now
    if (w) this.#holder.now = readAgain(w, what, await this.#part(what))
  }

  stop(): void {
    this.#stopped = true
  }

  async #read(what: Again): Promise<void> {
    if (this.#reading.has(what)) return
    this.#reading.add(what)
    const holder = this.#holder
    let more = false
    try {
      // A thousand clients receive the change at the same time, so each of them waits for a random
      // time before it reads.
      await new Promise((done) => setTimeout(done, 50 + Math.random() * (what === 'attendees' || what === 'polls' ? 1500 : 400)))
      const w = holder.now
      if (!w || this.#stopped) return
      holder.now = readAgain(w, what, {})
      const part = await this.#part(what)
      if (holder.now) holder.now = { ...holder.now, ...part }
      more = holder.now?.again.has(what) ?? false // the part changed during the read
    } catch {
      // The client is offline. The next resync or change triggers another read.
      if (holder.now && !this.#stopped) holder.now = { ...holder.now, again: new Set(holder.now.again).add(what) }
    } finally {
      this.#reading.delete(what)
    }
    if (more) void this.#read(what)
  }
}
