// Reads again what messages said has changed without saying how.
import { readAgain } from '../workshop/apply'
import type { Again, Workshop } from '../workshop/state'

/** Where the state is held that is read into. */
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

  /** Reads soon all that the state marks, each part once however often it is called. */
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
      // A thousand clients hear of the change at the same moment.
      await new Promise((done) => setTimeout(done, 50 + Math.random() * (what === 'attendees' || what === 'polls' ? 1500 : 400)))
      const w = holder.now
      if (!w || this.#stopped) return
      holder.now = readAgain(w, what, {})
      const part = await this.#part(what)
      if (holder.now) holder.now = { ...holder.now, ...part }
      more = holder.now?.again.has(what) ?? false // said while it was read
    } catch {
      // Offline: a resync or the next change reads it.
      if (holder.now && !this.#stopped) holder.now = { ...holder.now, again: new Set(holder.now.again).add(what) }
    } finally {
      this.#reading.delete(what)
    }
    if (more) void this.#read(what)
  }
}
