// Moments at which a connection may have died unnoticed: the network or the page came back, or the
// device slept.

/** The interval of the checks of the clock, milliseconds. */
const every = 5000
/** Milliseconds. If the clock jumped by more than this, the device slept or its clock was set. */
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
