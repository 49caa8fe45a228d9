// The server's configuration for apps, which each page requests once.
import { api, ask, type Schemas } from './client'

let said: Promise<Schemas['AppInfo']> | null = null

/**
 * Returns the limits and features of the server. If the request has failed, the next call repeats
 * it.
 */
export function appInfo(): Promise<Schemas['AppInfo']> {
  said ??= ask(api.GET('/app')).catch((e: unknown) => {
    said = null
    throw e
  })
  return said
}
