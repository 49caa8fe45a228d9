// Long unsaved texts, stored on this device. They can exceed the localStorage limit, so they are
// stored in IndexedDB. IndexedDB writes asynchronously, and a closing page cannot wait. A text that
// is still unwritten at that moment is stored in localStorage immediately.
import { entries, get, update } from 'idb-keyval'
import { keeps, recall, remember } from './remember'

interface Kept {
  at: number
  /** The draft, or undefined to delete it. */
  value: unknown
}

/** The beginning of the keys under which long drafts are stored at the last moment. */
export const lastMoments = 'draft:long:'
const lastMoment = (key: string) => lastMoments + key
/** The beginnings of the keys of these drafts in IndexedDB, where the app stores other values, too. */
const kinds = ['atelier:edit:', 'atelier:code:', 'atelier:quiz:']

/** Returns the number of stored drafts, of all tabs and earlier visits. */
export async function countDrafts(): Promise<number> {
  const keys = new Set<string>()
  try {
    for (const key of Object.keys(localStorage)) if (key.startsWith(`atelier:${lastMoments}`)) keys.add('atelier:' + key.slice(`atelier:${lastMoments}`.length))
    for (const [key, kept] of await entries<string, Kept | undefined>())
      if (kinds.some((k) => String(key).startsWith(k)) && kept?.value !== undefined) keys.add(key)
  } catch {
    // Storage is unavailable.
  }
  return keys.size
}

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

/** Combines the page's work with the stored draft. See keeper. */
export type Merge<T> = (kept: T | null) => T | undefined

/**
 * Returns a keeper, which stores a draft soon after a change, and immediately when the page is
 * hidden or closes, or when the keeper is stopped. take captures the page's work, which can change
 * while the storage is read. The function that it returns then makes the draft; undefined deletes
 * it. This function receives the stored value, because another tab can have changed it. It receives
 * null if nothing is stored, or if there is no time to read it.
 */
export function keeper<T>(key: string, take: () => Merge<T>): { later(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const write = (make: Merge<T>) => {
    clearTimeout(timer)
    timer = undefined
    if (!keeps()) return
    update<Kept>(`atelier:${key}`, (kept) => ({ at: Date.now(), value: make((kept?.value as T | undefined) ?? null) }))
      .then(() => timer === undefined && remember(lastMoment(key), undefined))
      .catch(() => {})
  }
  const flush = () => {
    if (timer === undefined) return
    const make = take()
    const value = make(null)
    remember(lastMoment(key), value === undefined ? undefined : { at: Date.now(), value })
    write(make)
  }
  addEventListener('pagehide', flush)
  document.addEventListener('visibilitychange', flush)
  return {
    later() {
      clearTimeout(timer)
      timer = setTimeout(() => write(take()), 200)
    },
    stop() {
      flush()
      removeEventListener('pagehide', flush)
      document.removeEventListener('visibilitychange', flush)
    },
  }
}
