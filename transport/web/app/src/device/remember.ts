// Small things that are kept on this device.

export function recall<T>(key: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`atelier:${key}`)
    return text === null ? otherwise : (JSON.parse(text) as T)
  } catch {
    return otherwise
  }
}

/** Keeps a value; undefined forgets it. What the device refuses is not kept. */
export function remember(key: string, value: unknown): void {
  try {
    if (value === undefined) localStorage.removeItem(`atelier:${key}`)
    else localStorage.setItem(`atelier:${key}`, JSON.stringify(value))
  } catch {
    // Full, or forbidden.
  }
}
