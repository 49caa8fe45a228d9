// The client for the server's REST API. Its types are generated from the OpenAPI document, so that
// a wrong path, field or response type does not compile.
import createClient, { type Middleware } from 'openapi-fetch'
import type { components, paths } from './schema'
import { framed, sitePath } from '../device/place'
import { Refused, retryAfter } from './refused'
import { waiting } from './waiting.svelte'

export type Schemas = components['schemas']

/** The CSRF token of this page's session, once the server has sent it. */
let told = ''

const csrf: Middleware = {
  onRequest({ request }) {
    if (request.method !== 'GET') request.headers.set('X-CSRF-Token', csrfToken())
    if (framed) request.headers.set('X-Framed', '1')
    return request
  },
  onResponse({ response }) {
    told = response.headers.get('X-CSRF-Token') ?? told
  },
}

/**
 * Returns the CSRF token for write requests, from the cookie that the server sets with the session.
 * A browser has two such cookies if it shows this server both in a tab and in a frame. The token in
 * the last response identifies the cookie that belongs to this page.
 */
export function csrfToken(): string {
  const shown = [...document.cookie.matchAll(/(?:^|; )svc_csrf=([^;]*)/g)].map((found) => found[1]!)
  return shown.includes(told) ? told : (shown[0] ?? '')
}

/** The maximum number of attempts for a request that receives status 429, including the first. */
const tries = 4

/**
 * Sends a request. On status 429 it waits for the time in Retry-After, shows a notice meanwhile,
 * and tries again. The 429 response is returned if it contains no Retry-After, if the wait is
 * longer than 60 seconds, or after the last attempt.
 */
export async function patientFetch(input: Request): Promise<Response> {
  for (let i = 1; ; i++) {
    const answer = await fetch(input.clone())
    const wait = answer.status === 429 ? retryAfter(answer.headers) : null
    if (wait === null || wait > 60 || i === tries) return answer
    await waiting.out(wait, input.signal)
  }
}

export const api = createClient<paths>({ baseUrl: sitePath('/api'), fetch: patientFetch })
api.use(csrf)

/** A request in progress. */
export type Call<T> = Promise<{ data?: T; error?: unknown; response: Response }>

/**
 * Returns a response's data. Throws Refused with the server's error, or with status 0 if no
 * response arrived. An aborted request throws its AbortError.
 */
export async function ask<T>(call: Call<T>): Promise<T> {
  return (await asked(call)).data
}

/** Like ask, but also returns the stream position of the response, or null if it has none. */
export async function askAt<T>(call: Call<T>): Promise<{ data: T; at: number | null }> {
  const { data, response } = await asked(call)
  return { data, at: position(response.headers) }
}

/** The stream position in a response's headers, or null. */
export function position(headers: Headers): number | null {
  const value = headers.get('X-Codelab-Seq')
  return value === null || !/^\d+$/.test(value) ? null : Number(value)
}

/** Like ask, but also returns the response. */
export async function asked<T>(call: Call<T>): Promise<{ data: T; response: Response }> {
  let got
  try {
    got = await call
  } catch (e) {
    if (e instanceof DOMException && e.name === 'AbortError') throw e
    throw new Refused(0, '')
  }
  if (!got.response.ok) throw Refused.from(got.response, got.error)
  return { data: got.data as T, response: got.response }
}
