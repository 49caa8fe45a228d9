import { heldFrom } from '../workshop/chat'
import type { ChatMessage } from '../workshop/state'
import type { Holder } from './meanwhile'

/** The chat messages on the page. Older messages are loaded on demand and dropped again. */
export class History {
  readonly #holder: Holder
  readonly #before: (id: string) => Promise<{ page: ChatMessage[]; more: boolean }>

  constructor(holder: Holder, before: (id: string) => Promise<{ page: ChatMessage[]; more: boolean }>) {
    this.#holder = holder
    this.#before = before
  }

  /** Loads the messages before the first one on the page. */
  async older(): Promise<void> {
    const w = this.#holder.now
    const first = w?.chat[0]
    if (!w || !first || !w.olderChat) return
    const { page, more } = await this.#before(first.id)
    const now = this.#holder.now
    // During the request, the first message can have been dropped, or older messages added.
    if (!now || now.chat[0]?.id !== first.id) return
    this.#holder.now = { ...now, chat: [...page, ...now.chat], olderChat: more }
  }

  /**
   * Drops older messages if there are more than 2 × keep. At least the newest `keep` messages stay
   * (heldFrom).
   */
  trim(keep: number): void {
    const w = this.#holder.now
    if (!w || w.chat.length <= 2 * keep) return
    const from = heldFrom(w.chat, keep)
    if (from > 0) this.#holder.now = { ...w, chat: w.chat.slice(from), olderChat: true }
  }
}
