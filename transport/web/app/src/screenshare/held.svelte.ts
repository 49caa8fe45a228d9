// The module for screens is loaded at the first signal about one. Signals that arrive
// before it is loaded are held for it.
import type { Room, Signal } from '../live/room.svelte'

const most = 200

export class Held {
  /** A signal about a screen has arrived. */
  seen = $state(false)
  readonly #room: Room
  #early: Signal[] = []
  #stop: (() => void) | null = null

  constructor(room: Room) {
    this.#room = room
  }

  begin(): () => void {
    this.#stop = this.#room.onSignal((s) => {
      if (this.#early.length < most) this.#early.push(s)
      this.seen = true
    })
    return () => this.#stop?.()
  }

  /** Hands on what was held, and from now on everything. */
  take(f: (s: Signal) => void): () => void {
    this.#stop?.()
    this.#stop = null
    for (const s of this.#early.splice(0)) f(s)
    return this.#room.onSignal(f)
  }
}
