// Whether an attendee still belongs to the codelab.
import type { Room } from '../../live/room.svelte'
import { isGone } from './gone'

export class Membership {
  readonly #room: Room
  /** The session has ended, or was never valid here. */
  readonly signedOut = $derived.by(() => this.#room.status.state === 'ended' || this.#room.refused !== null)
  #removed = $state(false)
  /** Nothing is left to show: the codelab is gone, or the attendee was removed from it. */
  readonly ended = $derived.by(() => {
    const { now, refused } = this.#room
    return now?.gone === true || this.#removed || (refused !== null && (!now || refused.status !== 401))
  })

  constructor(room: Room) {
    this.#room = room
  }

  /** Asks why there is no session. If it has only expired, the text stays readable. */
  async look(): Promise<void> {
    if (!this.signedOut) return
    try {
      this.#removed = await isGone(this.#room.now?.me ?? '')
    } catch {
      // Offline: the text stays.
    }
  }
}
