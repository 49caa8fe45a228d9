// Direct messages of attendees to the facilitators that nobody has answered, and that nobody
// here has seen.
import type { Told } from '../../live/protocol'
import type { Room } from '../../live/room.svelte'
import { markRead, withUnread } from '../../talk/readMarks'
import { facilitator, type ChatMessage } from '../../workshop/state'

/** The maximum number of messages that are held; older ones are in the chat. */
const most = 50

export class DirectMessages {
  readonly #room: Room
  /** The oldest first. */
  unread = $state.raw<readonly ChatMessage[]>([])

  constructor(room: Room) {
    this.#room = room
  }

  #begun = false

  /** The chat is there: messages from before wait, too. */
  begin(): void {
    if (this.#begun) return
    this.#begun = true
    this.unread = withUnread(this.#room, this.unread, most)
  }

  /** Takes what has arrived. An answer of any facilitator is one for all. */
  heard(told: readonly Told[]): void {
    let list = this.unread
    for (const t of told) {
      if (t.type !== 'dm') continue
      if (t.sender_id === facilitator) list = list.filter((x) => x.sender_id !== t.target_id)
      else if (!list.some((x) => x.id === t.id)) {
        const message = this.#room.now?.chat.find((x) => x.id === t.id)
        if (message) list = [...list, message].slice(-most)
      }
    }
    this.unread = list
  }

  /** Answers a message, and with it the others of the same person. False when too much waits to be sent. */
  answer(to: ChatMessage, message: string): boolean {
    if (!this.#room.say({ type: 'dm', target_id: to.sender_id, message })) return false
    this.unread = this.unread.filter((x) => x.sender_id !== to.sender_id)
    return true
  }

  see(message: ChatMessage): void {
    this.#read((x) => x.id === message.id)
  }

  /** Somebody's messages are open. */
  read(attendee: string): void {
    this.#read((x) => x.sender_id === attendee)
  }

  #read(which: (x: ChatMessage) => boolean): void {
    const read = this.unread.filter(which)
    markRead(this.#room.id, read)
    if (read.length > 0) this.unread = this.unread.filter((x) => !which(x))
  }
}
