// The server's self-description, requested once per page.
import { api, ask, type Schemas } from './client'

let said: Promise<Schemas['AppInfo']> | null = null

/** The limits and features of the server. After a failed request, the next call retries. */
export function appInfo(): Promise<Schemas['AppInfo']> {
  said ??= ask(api.GET('/app')).catch((e: unknown) => {
    said = null
    throw e
  })
  return said
}
