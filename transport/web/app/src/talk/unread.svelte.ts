// Direct messages to this person that were neither read nor answered. This device stores which
// messages were read, so that a reloaded page shows only the unread messages.
import { serverNow } from '../device/now'
import { recall, remember } from '../device/remember'
import type { Room } from '../live/room.svelte'
import { marked, unread, type ReadMarks } from '../workshop/chat'
import type { ChatMessage } from '../workshop/state'

/** The maximum number of messages in the list. The chat contains older messages. */
const most = 50

export class Unread {
  readonly #room: Pick<Room, 'id' | 'now'>
  readonly #key: string
  /** The unread messages, oldest first. */
  list = $state.raw<readonly ChatMessage[]>([])

  constructor(room: Pick<Room, 'id' | 'now'>) {
    this.#room = room
    this.#key = `read:${room.id}`
  }

  #begun = false

  /**
   * Called when the chat has been loaded. Adds recent messages that were neither read nor answered.
   */
  begin(): void {
    const { now } = this.#room
    if (this.#begun || !now) return
    this.#begun = true
    const before = unread(now.chat, now.me, recall<ReadMarks>(this.#key, {}), serverNow())
    this.list = [...before.filter((x) => !this.list.some((y) => y.id === x.id)), ...this.list].slice(-most)
  }

  /** Adds a message that has arrived. The chat already contains it. */
  add(id: string): void {
    const message = this.#room.now?.chat.find((x) => x.id === id)
    if (message && !this.list.some((x) => x.id === id)) this.list = [...this.list, message].slice(-most)
  }

  /** Removes messages that were read or answered, and remembers them as read. */
  read(which: (x: ChatMessage) => boolean): void {
    const read = this.list.filter(which)
    if (read.length === 0) return
    remember(this.#key, marked(recall<ReadMarks>(this.#key, {}), read))
    this.list = this.list.filter((x) => !which(x))
  }
}
