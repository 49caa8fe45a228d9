// Long texts that are not saved yet, kept on this device. There may be more of
// them than the small store of the page holds, so they go into the database;
// but that writes in its own time, and a page that is closed has none: what was
// not written by then goes into the small store at once.
import { del, get, set } from 'idb-keyval'
import { recall, remember } from './remember'

interface Kept {
  at: number
  value: unknown
}

const lastMoment = (key: string) => `draft:${key}`

/** What was kept; null when there is nothing, or the device keeps nothing. */
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
 * goes; undefined forgets it.
 */
export function keeper(key: string, make: () => unknown): { later(): void; stop(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined
  const write = () => {
    clearTimeout(timer)
    timer = undefined
    const value = make()
    const done = value === undefined ? del(`atelier:${key}`) : set(`atelier:${key}`, { at: Date.now(), value })
    done.then(() => timer === undefined && remember(lastMoment(key), undefined)).catch(() => {})
  }
  const flush = () => {
    if (timer === undefined) return
    const value = make()
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
