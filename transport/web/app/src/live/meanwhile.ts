// The latest changes of the state. A part that is read can lack some of these changes, because they
// happened during the read, or because the node that answered does not have them yet. Meanwhile
// applies such changes to the part again.
import { askAt, type Call } from '../api/client'
import { apply } from '../workshop/apply'
import type { Again, Workshop } from '../workshop/state'
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

/** The maximum number of changes that are kept between reads. */
const maxKept = 1000

export class Meanwhile {
  readonly #holder: Holder
  /** The latest changes, oldest first. */
  #changes: (Told | Assumed)[] = []
  /** The number of earlier changes that are no longer in the list. */
  #dropped = 0
  #reading = 0

  constructor(holder: Holder) {
    this.#holder = holder
  }

  /** Must be called for each message and own change that is applied to the state. */
  add(...changes: (Told | Assumed)[]): void {
    this.#changes.push(...changes)
    if (this.#reading === 0 && this.#changes.length > maxKept) this.#keep(maxKept / 2)
  }

  /** Forgets all changes, because the positions of the stream begin again. */
  clear(): void {
    this.#keep(0)
  }

  /** Keeps only the latest n changes. */
  #keep(n: number) {
    const drop = this.#changes.length - n
    this.#dropped += drop
    this.#changes = this.#changes.slice(drop)
  }

  /**
   * Reads a part, and applies it to the state. An error of the read changes nothing. Returns the
   * parts that are to be read again according to messages that are later than the response.
   */
  async read(read: () => Promise<Found>): Promise<ReadonlySet<Again>> {
    const from = this.#dropped + this.#changes.length
    this.#reading++
    try {
      const { part, at } = await read()
      const { now } = this.#holder
      if (!now) return new Set()
      const found = typeof part === 'function' ? part(now) : part
      const later = this.#changes.filter((c, i) => isLater(c, at) ?? this.#dropped + i >= from)
      const current = applied({ ...now, ...found, again: new Set() }, later)
      this.#holder.now = { ...now, ...only(current, found) }
      return current.again
    } finally {
      this.#reading--
    }
  }

  /** Like read, for the response to a request. Also returns the response. */
  async request<T>(call: Call<T>, part: (data: T, now: Workshop) => Partial<Workshop>): Promise<{ data: T; again: ReadonlySet<Again> }> {
    const answer = askAt(call)
    const again = await this.read(async () => {
      const { data, at } = await answer
      return { part: (now) => part(data, now), at }
    })
    return { data: (await answer).data, again }
  }
}

/** Whether a message is later than a response at a position, or null if a position is missing. */
const isLater = (c: Told | Assumed, at: number | null) => (at !== null && typeof c !== 'function' && 'seq' in c ? (c.seq as number) > at : null)

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
