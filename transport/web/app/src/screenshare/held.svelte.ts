// The screen sharing module is loaded when its first signal arrives, or when somebody helps the
// attendee. Until the module is loaded, signals are queued here.
import type { Room, Signal } from '../live/room.svelte'

/** The maximum number of queued signals. Later signals are dropped. */
const most = 200

export class Held {
  /** Whether a signal about a screen has arrived, or take was called. */
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

  /**
   * Delivers the queued signals to f, and from now on all further signals. The module stays in use
   * even if nobody helps the attendee any more, because nobody else receives the signals.
   */
  take(f: (s: Signal) => void): () => void {
    this.seen = true
    this.#stop?.()
    this.#stop = null
    for (const s of this.#early.splice(0)) f(s)
    return this.#room.onSignal(f)
  }
}
