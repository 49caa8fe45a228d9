// Small things that are kept on this device.

export function recall<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`atelier:${key}`)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

/** What was begun in this tab, by its key: another tab may have put its own in the same place. */
export const begun = new Map<string, unknown>()

let silent = false

/** From here on this page keeps nothing any more: its person has signed out. */
export function silence(): void {
  silent = true
}

/** Whether this page may keep anything. */
export const keeps = () => !silent

/** Keeps a value; undefined forgets it. What the device refuses is not kept. */
export function remember(key: string, value: unknown): void {
  if (silent) return
  if (key.startsWith('draft:')) {
    if (value === undefined) begun.delete(`atelier:${key}`)
    else begun.set(`atelier:${key}`, value)
  }
  try {
    if (value === undefined) localStorage.removeItem(`atelier:${key}`)
    else localStorage.setItem(`atelier:${key}`, JSON.stringify(value))
  } catch {
    // Full, or forbidden.
  }
}
