// The server's description of itself, requested once per page.
import { api, ask, type Schemas } from './client'

let said: Promise<Schemas['AppInfo']> | null = null

/** The limits and features of the server. If the request failed, the next call repeats it. */
export function appInfo(): Promise<Schemas['AppInfo']> {
  said ??= ask(api.GET('/app')).catch((e: unknown) => {
    said = null
    throw e
  })
  return said
}
