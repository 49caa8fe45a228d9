// Long unsaved texts, stored on this device. They can exceed the localStorage limit, so they are
// stored in IndexedDB. IndexedDB writes asynchronously, and a closing page cannot wait. A text that
// is still unwritten at that moment is stored in localStorage immediately.
import { get, update } from 'idb-keyval'
import { keeps, recall, remember } from './remember'

interface Kept {
  at: number
  /** The draft, or undefined to delete it. */
  value: unknown
}

const lastMoment = (key: string) => `draft:${key}`

/** Returns the stored draft, or null if there is none or storage is unavailable. */
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
 * Returns a keeper, which stores the result of make soon after a change, and immediately when the
 * page is hidden or closes. The result undefined deletes the draft. make receives the stored value,
 * because another tab can have changed it. It receives null if nothing is stored, or if there is no
 * time to read it.
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
