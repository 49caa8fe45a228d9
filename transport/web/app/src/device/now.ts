// The time as the server has it. The clock of a device may be an hour off; waits and
// timers are counted with the server's.

interface Estimate {
  /** The correction of the device's clock, milliseconds. */
  offset: number
  /** How far off the offset may be, milliseconds. */
  spread: number
  /** When it was made, by the device's clock. */
  at: number
  /** It is from an answer that cannot be cached. */
  sure: boolean
}

/** An estimate is replaced by a less exact one when it is older than this, milliseconds. */
const old = 10 * 60_000

let estimate: Estimate | null = null

/**
 * Notes the server's time out of an answer that was asked for at sent and came at
 * received, both by the device's clock. Stamps of replayed or stored messages must not
 * come here: they are not the time of the answer. Of an answer that a browser may have kept
 * sure is false: what a connection said lately counts more.
 */
export function noteTime(stamp: string, sent = Date.now(), received = Date.now(), sure = true): void {
  const there = Date.parse(stamp)
  // Between the two the device's clock was set back.
  if (Number.isNaN(there) || received < sent) return
  // The server made the stamp between the two.
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

/** Unix milliseconds at the server. */
export function serverNow(): number {
  return Date.now() + (estimate?.offset ?? 0)
}
