// Long texts that are not saved yet, kept on this device. They can exceed the page's small store,
// so they go into the database. But the database writes later, and a page that closes cannot
// wait. Texts not written by then go into the small store at once.
import { get, update } from 'idb-keyval'
import { keeps, recall, remember } from './remember'

interface Kept {
  at: number
  /** Undefined: it is forgotten. */
  value: unknown
}

const lastMoment = (key: string) => `draft:${key}`

/** The stored draft; null when there is none, or the device stores nothing. */
export async function recallDraft<T>(key: string): Promise<T | null> {
  const quick = recall<Kept | null>(lastMoment(key), null)
  let long: Kept | null = null
  try {
    long = (await get<Kept>(`atelier:${key}`)) ?? null
  } catch {
    // Forbidden here.
  }
  const newest = (quick?.at ?? 0) > (long?.at ?? 0) ? quick : long
  return (newest?.value as T | undefined) ?? null
}

/**
 * Keeps what make gives, soon after something changed and at once when the page
 * goes; undefined forgets it. make is given what is kept now: another tab may
 * have kept something there.
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
