// Test support: the part of a device's storage that the app uses.
import { vi } from 'vitest'

/** Replaces the device's storage for a test, and returns its contents by key. */
export function fakeStorage(): Map<string, string> {
  const map = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (k: string) => map.get(k) ?? null,
    setItem: (k: string, v: string) => void map.set(k, v),
    removeItem: (k: string) => void map.delete(k),
  })
  return map
}
