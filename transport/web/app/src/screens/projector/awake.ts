/** Keeps the screen from going dark until the returned function is called, where the browser can. */
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
      // The battery is low, or the browser does not want to.
    }
  }
  // The browser lets go of it when the page is hidden.
  document.addEventListener('visibilitychange', hold)
  hold()
  return () => {
    over = true
    document.removeEventListener('visibilitychange', hold)
    void held?.release().catch(() => {})
  }
}
