// The things that a reload would lose or interrupt: a screen that is shared or projected,
// an upload, unsaved input.
const held = new Set<symbol>()

/** Prevents automatic reloads of the page until the returned function is called. */
export function hold(): () => void {
  const it = Symbol()
  held.add(it)
  return () => void held.delete(it)
}

export const isHeld = (): boolean => held.size > 0
