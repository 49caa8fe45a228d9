/** Keeps the screen on until the returned function is called, if the browser supports it. */
export function stayAwake(): () => void {
  let held: WakeLockSentinel | null = null
  let over = false
  const hold = () => void request()
  async function request() {
    if (over || document.visibilityState !== 'visible' || !('wakeLock' in navigator)) return
    try {
      held = await navigator.wakeLock.request('screen')
      if (over) await held.release()
    } catch {
      // The battery is low, or the browser refuses.
    }
  }
  // The browser releases the lock when the page is hidden.
  document.addEventListener('visibilitychange', hold)
  hold()
  return () => {
    over = true
    document.removeEventListener('visibilitychange', hold)
    void held?.release().catch(() => {})
  }
}
