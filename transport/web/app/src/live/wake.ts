// Moments at which a connection may have died without a word: the network or the page came
// back, or the device slept.

/** How often the clock is looked at, milliseconds. */
const every = 5000
/** The clock went on by so much more, or back by so much, milliseconds: the device slept, or was set. */
const jump = 3000

/** Calls f at each of them, until the returned function is called. */
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
