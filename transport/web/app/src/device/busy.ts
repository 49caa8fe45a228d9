// Tracks activities that a reload would interrupt: screen sharing, projecting, uploads and unsaved
// input.
const held = new Set<symbol>()

/** Prevents automatic reloads until the returned function is called. */
export function hold(): () => void {
  const it = Symbol()
  held.add(it)
  return () => void held.delete(it)
}

export const isHeld = (): boolean => held.size > 0
