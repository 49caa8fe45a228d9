// Small values, stored on this device.

/** Returns a stored value, or the parameter `otherwise` if no value is stored or readable. */
export function recall<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`atelier:${key}`)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

/** The drafts that this tab stored, by key. Other tabs can replace them in the storage. */
export const begun = new Map<string, unknown>()

let silent = false

/** Prevents this page from storing anything more, since the person has signed out. */
export function silence(): void {
  silent = true
}

/** Whether this page is allowed to store anything. */
export const keeps = () => !silent

/** Stores a value, or removes it if it is undefined. If the device refuses, nothing is stored. */
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
    // Storage is full or unavailable.
  }
}
