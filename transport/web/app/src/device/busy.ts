// What would be lost or interrupted if the page were loaded anew: a screen that is shown,
// a file on its way, something that is not saved.
const held = new Set<symbol>()

/** Keeps the page from being loaded anew by itself until the returned function is called. */
export function hold(): () => void {
  const it = Symbol()
  held.add(it)
  return () => void held.delete(it)
}

export const isHeld = (): boolean => held.size > 0
