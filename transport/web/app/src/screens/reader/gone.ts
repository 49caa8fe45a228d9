import { api, ask } from '../../api/client'
import { Refused } from '../../api/refused'

/** Whether the server no longer knows an attendee: they were removed, or erased themselves. */
export async function isGone(attendee: string): Promise<boolean> {
  // The one thing that everybody may ask about an attendee.
  return ask(api.GET('/certificates/{id}', { params: { path: { id: attendee } } })).then(
    () => false,
    (e) => e instanceof Refused && e.status === 404,
  )
}
