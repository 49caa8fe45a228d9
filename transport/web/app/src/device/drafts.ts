// Long unsaved texts, kept on this device. They can exceed the limit of localStorage, so they are
// kept in IndexedDB. But IndexedDB writes later, and a page that closes cannot wait. Texts that are
// not written by then go into localStorage at once.
import { get, update } from 'idb-keyval'
import { keeps, recall, remember } from './remember'

interface Kept {
  at: number
  /** The draft; undefined to delete it. */
  value: unknown
}

const lastMoment = (key: string) => `draft:${key}`

/** The stored draft; null if there is none, or if storage is unavailable. */
export async function recallDraft<T>(key: string): Promise<T | null> {
  const quick = recall<Kept | null>(lastMoment(key), null)
  let long: Kept | null = null
  try {
    long = (await get<Kept>(`atelier:${key}`)) ?? null
  } catch {
    // Storage is unavailable.
  }
  const newest = (quick?.at ?? 0) > (long?.at ?? 0) ? quick : long
  return (newest?.value as T | undefined) ?? null
}

/**
 * Stores the result of make soon after a change, and at once when the page closes; undefined
 * deletes it. make receives the stored value, since another tab can have changed it.
 */
export function keeper<T>(key: string, make: (kept: T | null) => T | undefined): { later(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const write = () => {
    clearTimeout(timer)
    timer = undefined
    if (!keeps()) return
    update<Kept>(`atelier:${key}`, (kept) => ({ at: Date.now(), value: make((kept?.value as T | undefined) ?? null) }))
      .then(() => timer === undefined && remember(lastMoment(key), undefined))
      .catch(() => {})
  }
  const flush = () => {
    if (timer === undefined) return
    const value = make(null)
    remember(lastMoment(key), value === undefined ? undefined : { at: Date.now(), value })
    write()
  }
  addEventListener('pagehide', flush)
  document.addEventListener('visibilitychange', flush)
  return {
    later() {
      clearTimeout(timer)
      timer = setTimeout(write, 200)
    },
    stop() {
      flush()
      removeEventListener('pagehide', flush)
      document.removeEventListener('visibilitychange', flush)
    },
  }
}
