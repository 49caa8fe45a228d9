// The content of the projector.
import { api, ask } from '../../api/client'
import type { Room } from '../../live/room.svelte'
import type { Spotlight } from '../../workshop/state'

export function isOnProjector(room: Room, kind: Spotlight['kind'], id: string | null = null): boolean {
  const now = room.now?.spotlight.value ?? null
  return now !== null && now.kind === kind && now.id === id
}

/** Shows something on the projector, or removes it if it is already shown. */
export async function toggleProjector(room: Room, kind: Spotlight['kind'], id: string | null = null): Promise<void> {
  const body = isOnProjector(room, kind, id) ? { kind: null } : { kind, ...(id === null ? {} : { id }) }
  await ask(api.PUT('/codelabs/{id}/spotlight', { params: { path: { id: room.id } }, body }))
}
