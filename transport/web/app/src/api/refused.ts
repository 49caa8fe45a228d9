/** The error of a request that the server refused, or to which no response arrived. */
export class Refused extends Error {
  constructor(
    /** The HTTP status, or 0 if there was no response. */
    readonly status: number,
    /** The server's message in English, or "" without a message. */
    readonly said: string,
    /** Seconds after which a retry is allowed, if the server sent them. */
    readonly after: number | null = null,
  ) {
    super(said || `status ${status}`)
  }

  static from(response: Response, body: unknown): Refused {
    return new Refused(response.status, saidIn(body), retryAfter(response.headers))
  }
}

/** Whether the device has no network, or the server is unavailable (status 502 or above). */
export const isAway = (e: unknown) => e instanceof Refused && (e.status === 0 || e.status >= 502)

function saidIn(body: unknown): string {
  if (body && typeof body === 'object' && 'error' in body && typeof body.error === 'string') return body.error
  return ''
}

/**
 * The seconds until the time in a Retry-After header, which contains seconds or a date. The result
 * is at least 0, or null if the header is missing or invalid.
 */
export function retryAfter(headers: Headers): number | null {
  const value = headers.get('Retry-After')
  if (value === null) return null
  const seconds = Number(value)
  if (Number.isFinite(seconds)) return Math.max(0, seconds)
  const at = Date.parse(value)
  return Number.isNaN(at) ? null : Math.max(0, (at - Date.now()) / 1000)
}
