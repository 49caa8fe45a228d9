import { api, ask } from '../../api/client'
import { Refused } from '../../api/refused'

/**
 * Returns whether the attendee no longer exists on the server, because they were removed or deleted
 * themselves. Returns false if this cannot be determined, for example without a network.
 */
export async function isGone(attendee: string): Promise<boolean> {
  // The certificate is requested, because it is the only data about an attendee that is available
  // without a session.
  return ask(api.GET('/certificates/{id}', { params: { path: { id: attendee } } })).then(
    () => false,
    (e) => e instanceof Refused && e.status === 404,
  )
}
