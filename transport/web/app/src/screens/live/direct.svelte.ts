// The direct messages from attendees that no facilitator has answered and that were not seen on
// this page.
import type { Told } from '../../live/protocol'
import type { Room } from '../../live/room.svelte'
import { Unread } from '../../talk/unread.svelte'
import { facilitator, type ChatMessage } from '../../workshop/state'

export class DirectMessages {
  readonly #room: Room
  readonly #waiting: Unread

  constructor(room: Room) {
    this.#room = room
    this.#waiting = new Unread(room)
  }

  /** The unread messages, oldest first. */
  get unread(): readonly ChatMessage[] {
    return this.#waiting.list
  }

  /** Called when the chat has been loaded. Earlier messages then also count. */
  begin(): void {
    this.#waiting.begin()
  }

  /** Applies arrived messages. One facilitator's answer counts for all facilitators. */
  heard(told: readonly Told[]): void {
    for (const t of told) {
      if (t.type !== 'dm') continue
      if (t.sender_id !== facilitator) this.#waiting.add(t.id)
      else if (t.target_id) this.read(t.target_id)
    }
  }

  /**
   * Answers a message. The answer counts for all messages of that person. Returns false if the
   * outbox is full.
   */
  answer(to: ChatMessage, message: string): boolean {
    if (!this.#room.say({ type: 'dm', target_id: to.sender_id, message })) return false
    this.read(to.sender_id)
    return true
  }

  see(message: ChatMessage): void {
    this.#waiting.read((x) => x.id === message.id)
  }

  /** Called when the messages of a person were opened or answered. */
  read(attendee: string): void {
    this.#waiting.read((x) => x.sender_id === attendee)
  }
}
