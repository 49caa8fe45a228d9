// What the server says of itself, asked once.
import { api, ask, type Schemas } from './client'

let said: Promise<Schemas['AppInfo']> | null = null

/** Its limits, and what it can do. Asked again after it could not be reached. */
export function appInfo(): Promise<Schemas['AppInfo']> {
  said ??= ask(api.GET('/app')).catch((e: unknown) => {
    said = null
    throw e
  })
  return said
}
