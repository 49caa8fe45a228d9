// Which direct messages were read in a codelab is kept on this device: a page that is loaded
// again shows those that were not.
import { serverNow } from '../device/now'
import { recall, remember } from '../device/remember'
import type { Room } from '../live/room.svelte'
import { marked, unread, type ReadMarks } from '../workshop/chat'
import type { ChatMessage } from '../workshop/state'

const key = (codelab: string) => `read:${codelab}`

/** The held messages, and before them the recent ones that were neither read here nor answered; the newest ones, at most the maximum number. */
export function withUnread({ id, now }: Pick<Room, 'id' | 'now'>, held: readonly ChatMessage[], most: number): readonly ChatMessage[] {
  if (!now) return held
  const before = unread(now.chat, now.me, recall<ReadMarks>(key(id), {}), serverNow())
  return [...before.filter((x) => !held.some((y) => y.id === x.id)), ...held].slice(-most)
}

export function markRead(codelab: string, read: readonly ChatMessage[]): void {
  if (read.length > 0) remember(key(codelab), marked(recall<ReadMarks>(key(codelab), {}), read))
}
