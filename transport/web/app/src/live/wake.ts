// Detects moments at which a connection can have died unnoticed. At such a moment the network is
// available again, the page is visible again, or the device has woken from sleep.

/** The interval of the clock checks, in milliseconds. */
const every = 5000
/**
 * A jump of the clock by more than this time, in milliseconds, means that the device has slept or
 * its clock was set. It can also mean that the browser has delayed the checks of a hidden page.
 */
const jump = 3000

/** Calls f at each such moment, until the returned function is called. */
export function onWake(f: () => void): () => void {
  const seen = () => document.visibilityState === 'visible' && f()
  let last = Date.now()
  let ran = performance.now()
  const timer = setInterval(() => {
    const [now, runs] = [Date.now(), performance.now()]
    const jumped = now - last > every + jump || Math.abs(now - last - (runs - ran)) > jump
    last = now
    ran = runs
    if (jumped) f()
  }, every)
  addEventListener('online', f)
  addEventListener('pageshow', f)
  document.addEventListener('visibilitychange', seen)
  return () => {
    clearInterval(timer)
    removeEventListener('online', f)
    removeEventListener('pageshow', f)
    document.removeEventListener('visibilitychange', seen)
  }
}
