// Whether an attendee still belongs to the codelab.
import type { Room } from '../../live/room.svelte'
import { isGone } from './gone'

export class Membership {
  readonly #room: Room
  /** Whether the session has ended, or was never valid here. */
  readonly signedOut = $derived.by(() => this.#room.status.state === 'ended' || this.#room.refused !== null)
  #removed = $state(false)
  /**
   * Whether nothing is left to show, because the codelab was deleted or the attendee was removed
   * from it.
   */
  readonly ended = $derived.by(() => {
    const { now, refused } = this.#room
    return now?.gone === true || this.#removed || (refused !== null && (!now || refused.status !== 401))
  })

  constructor(room: Room) {
    this.#room = room
  }

  /** Finds out why the session has ended. If it has only expired, the text stays readable. */
  async look(): Promise<void> {
    if (!this.signedOut) return
    try {
      this.#removed = await isGone(this.#room.now?.me ?? '')
    } catch {
      // The device is offline, so the text stays.
    }
  }
}
