// The server's time. A device's clock can be wrong by an hour, so waits and timers use the server's
// time.

interface Estimate {
  /** The correction of the device's clock, in milliseconds. */
  offset: number
  /** The uncertainty of the offset, in milliseconds. */
  spread: number
  /** The time of the estimate by the device's clock, in Unix milliseconds. */
  at: number
  /** Whether the estimate is from a response that cannot be cached. */
  sure: boolean
}

/** The age at which an estimate is replaced even by a less exact one, in milliseconds. */
const old = 10 * 60_000

let estimate: Estimate | null = null

/**
 * Estimates the offset from a response that contains the server's time. sent and received are the
 * request and response times by the device's clock. Never pass timestamps of replayed or stored
 * messages, because they are older than the response. sure is false if the response can come from a
 * cache. A recent estimate from a response that cannot be cached then takes precedence.
 */
export function noteTime(stamp: string, sent = Date.now(), received = Date.now(), sure = true): void {
  const there = Date.parse(stamp)
  // Ignore invalid timestamps, and requests during which the device's clock was set back.
  if (Number.isNaN(there) || received < sent) return
  // The server made the timestamp between sent and received.
  const next = { offset: Math.round(there - (sent + received) / 2), spread: (received - sent) / 2, at: received, sure }
  const e = estimate
  if (e && e.sure !== sure) {
    if (!sure && Math.abs(received - e.at) < old) return
    estimate = next
    return
  }
  const agrees = e !== null && Math.abs(next.offset - e.offset) <= next.spread + e.spread
  if (e && agrees && e.spread <= next.spread && Math.abs(received - e.at) < old) return
  estimate = next
}

/** The server's time, in Unix milliseconds. */
export function serverNow(): number {
  return Date.now() + (estimate?.offset ?? 0)
}
