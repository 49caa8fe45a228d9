// The comments that a facilitator has not seen yet. This device stores which comments were seen.
import { recall, remember } from '../device/remember'
import type { Room } from '../live/room.svelte'
import type { Thread } from '../workshop/state'
import { fresh, look, type Seen } from './byStep'

export class Unseen {
  readonly room: Room
  #key: string
  #seen = $state.raw<Seen>({})
  /** The number of new comments. */
  readonly count = $derived.by(() => (this.room.now?.threads ?? []).reduce((n, t) => n + fresh(t, this.#seen), 0))

  constructor(room: Room) {
    this.room = room
    this.#key = `comments-seen:${room.id}`
    this.#seen = recall(this.#key, {})
  }

  of(t: Thread): number {
    return fresh(t, this.#seen)
  }

  /** Marks these threads as seen. */
  look(threads: readonly Thread[]): void {
    this.#seen = look(this.#seen, this.room.now?.threads ?? [], threads)
    remember(this.#key, this.#seen)
  }
}
