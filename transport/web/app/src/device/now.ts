// The time as the server has it: clocks of laptops may be an hour off, and
// waits are counted from the server's stamps.
let offset = 0

/** Smaller differences are the way a message takes. */
const tolerated = 3000

/** Notes the stamp of a message that has come just now. */
export function noteTime(stamp: string, here = Date.now()): void {
  const there = Date.parse(stamp)
  if (Number.isNaN(there)) return
  const difference = there - here
  offset = Math.abs(difference) > tolerated ? difference : 0
}

/** Unix milliseconds at the server. */
export function serverNow(): number {
  return Date.now() + offset
}
