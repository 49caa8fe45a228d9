// Which direct messages were read in a codelab is kept on this device: a page that is loaded
// again shows those that were not.
import { recall, remember } from '../device/remember'
import { marked, unread, type ReadMarks } from '../workshop/chat'
import type { ChatMessage } from '../workshop/state'

const key = (codelab: string) => `read:${codelab}`

/** Recent direct messages to me that were neither read here nor answered, the oldest first. */
export function left(codelab: string, chat: readonly ChatMessage[], me: string, now: number): ChatMessage[] {
  return unread(chat, me, recall<ReadMarks>(key(codelab), {}), now)
}

export function markRead(codelab: string, read: readonly ChatMessage[]): void {
  if (read.length > 0) remember(key(codelab), marked(recall<ReadMarks>(key(codelab), {}), read))
}
