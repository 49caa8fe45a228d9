// Changes that happen while a part of the state is being read. The response can be older than these
// changes, so they are applied to the result again.
import { apply } from '../workshop/apply'
import type { Workshop } from '../workshop/state'
import type { Told } from './protocol'

/** The result of a read. */
export interface Found {
  /** The part, or a function that computes it from the current state. */
  readonly part: Partial<Workshop> | ((now: Workshop) => Partial<Workshop>)
  /** The stream position of the response, or null if it is unknown. */
  readonly at: number | null
}

/** The person's own change, which is shown before the server has confirmed it. */
export type Assumed = (w: Workshop) => Partial<Workshop>

/** The owner of the state. */
export interface Holder {
  now: Workshop | null
}

export class Meanwhile {
  readonly #holder: Holder
  #changes: (Told | Assumed)[] = []
  #reading = 0

  constructor(holder: Holder) {
    this.#holder = holder
  }

  /** Must be called for each message and own change that is applied to the state. */
  add(...changes: (Told | Assumed)[]): void {
    if (this.#reading > 0) this.#changes.push(...changes)
  }

  /** Reads a part, and applies it to the state. An error of the read changes nothing. */
  async read(read: () => Promise<Found>): Promise<void> {
    const from = this.#changes.length
    this.#reading++
    try {
      const { part, at } = await read()
      const { now } = this.#holder
      if (!now) return
      const found = typeof part === 'function' ? part(now) : part
      const later = this.#changes.slice(from).filter((c) => typeof c === 'function' || !isIn(c, at))
      this.#holder.now = { ...now, ...only(applied({ ...now, ...found }, later), found) }
    } finally {
      if (--this.#reading === 0) this.#changes = []
    }
  }
}

/** Whether a response at a position contains a message. Messages without a position are repeated. */
const isIn = (m: Told, at: number | null) => at !== null && 'seq' in m && (m.seq as number) <= at

/** Applies changes in order, and messages in batches, because each batch copies long lists once. */
function applied(w: Workshop, changes: readonly (Told | Assumed)[]): Workshop {
  let batch: Told[] = []
  for (const c of changes) {
    if (typeof c !== 'function') {
      batch.push(c)
      continue
    }
    w = apply(w, batch)
    w = { ...w, ...c(w) }
    batch = []
  }
  return apply(w, batch)
}

/** Returns the fields of w that the part has. The other fields already contain all changes. */
function only(w: Workshop, part: Partial<Workshop>): Partial<Workshop> {
  return Object.fromEntries(Object.keys(part).map((key) => [key, w[key as keyof Workshop]]))
}
