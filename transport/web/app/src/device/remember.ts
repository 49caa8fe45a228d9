// Small things that are kept on this device.

export function recall<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`atelier:${key}`)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

/** The values that this tab stored, by their keys. Another tab can have stored its own under the same key. */
export const begun = new Map<string, unknown>()

let silent = false

/** From here on this page keeps nothing any more: its person has signed out. */
export function silence(): void {
  silent = true
}

/** Whether this page may keep anything. */
export const keeps = () => !silent

/** Stores a value; undefined removes it. A value that the device refuses is not stored. */
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
