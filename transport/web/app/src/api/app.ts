// The server's description of itself, requested once.
import { api, ask, type Schemas } from './client'

let said: Promise<Schemas['AppInfo']> | null = null

/** The limits and abilities of the server. A failed request is made again by the next call. */
export function appInfo(): Promise<Schemas['AppInfo']> {
  said ??= ask(api.GET('/app')).catch((e: unknown) => {
    said = null
    throw e
  })
  return said
}
