// The client of the server's REST interface. Its types are made from the
// OpenAPI document, so a call with a wrong path, field or answer does not
// compile.
import createClient, { type Middleware } from 'openapi-fetch'
import type { components, paths } from './schema'
import { framed, sitePath } from '../device/place'
import { Refused, retryAfter } from './refused'
import { waiting } from './waiting.svelte'

export type Schemas = components['schemas']

/** The token of this page's session, when the server has said it. */
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
 * The token that goes with every write; the server sets it beside the session. There are
 * two cookies where a page of this server is open by itself and one in a frame.
 */
export function csrfToken(): string {
  const shown = [...document.cookie.matchAll(/(?:^|; )svc_csrf=([^;]*)/g)].map((found) => found[1]!)
  return shown.includes(told) ? told : (shown[0] ?? '')
}

/** Attempts of a request that is answered with 429, with the first one. */
const tries = 4

/**
 * fetch that waits after a 429 as long as Retry-After requires, and shows a notice meanwhile. It
 * stops if the wait would be longer than a person waits.
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

/**
 * Returns the data of an answer, or throws Refused with the server's error. Offline it throws
 * Refused with status 0.
 */
export async function ask<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  return (await asked(call)).data
}

/** ask, with the answer's headers. */
export async function asked<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<{ data: T; response: Response }> {
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
