import { api, ask } from '../../api/client'
import { Refused } from '../../api/refused'

/**
 * Whether the attendee no longer exists on the server: they were removed, or deleted themselves.
 */
export async function isGone(attendee: string): Promise<boolean> {
  // These are the only data about an attendee that everybody is allowed to request.
  return ask(api.GET('/certificates/{id}', { params: { path: { id: attendee } } })).then(
    () => false,
    (e) => e instanceof Refused && e.status === 404,
  )
}
