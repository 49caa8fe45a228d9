// Requests that received status 429. The app waits and retries, and shows the wait in one line.
let until = $state(0)
let count = 0

export const waiting = {
  /**
   * The time at which the last waiting request is retried, in Unix milliseconds. 0 if no request is
   * waiting.
   */
  get until() {
    return until
  },

  /**
   * Waits the given seconds plus a random part of at most 2 seconds, so that clients do not all
   * retry simultaneously. Rejects if the signal aborts.
   */
  async out(seconds: number, signal?: AbortSignal | null): Promise<void> {
    const ms = seconds * 1000 + Math.random() * Math.min(2000, 250 + seconds * 250)
    until = Math.max(until, Date.now() + ms)
    count++
    try {
      signal?.throwIfAborted()
      await new Promise<void>((done, stop) => {
        const aborted = () => {
          clearTimeout(timer)
          stop(new DOMException('aborted', 'AbortError'))
        }
        const timer = setTimeout(() => {
          signal?.removeEventListener('abort', aborted)
          done()
        }, ms)
        signal?.addEventListener('abort', aborted)
      })
    } finally {
      if (--count === 0) until = 0
    }
  },
}
