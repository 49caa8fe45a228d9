// Stores texts that were read on this device, so that a page can show them after a reload without a
// network. The stored data contains no people of the workshop except the reader.
import { del, get, set } from 'idb-keyval'
import { pathOf, sitePath } from '../device/place'
import { keeps, recall, remember } from '../device/remember'
import type { First } from '../live/room.svelte'

/** The maximum number of stored codelabs. The most recently read codelabs are kept. */
const most = 10

const key = (codelab: string) => `atelier:text:${codelab}`
const pictures = (codelab: string) => `atelier-pictures-${codelab}`

/** Whether this device can store pages for use without a network. */
export const keepsPages = () => globalThis.isSecureContext && 'serviceWorker' in navigator

/** A codelab without its live state. */
export function ofText({ codelab, ...first }: First): First {
  const { pin: _p, pointer: _r, poll: _o, timer: _t, spotlight: _s, now: _n, online: _c, attendees: _a, join_code: _j, ...text } = codelab
  return { ...first, codelab: text }
}

/** Stores a text that was read, its images, and the reader's own record. */
export async function keepText(first: First): Promise<void> {
  const id = first.codelab.id
  if (!keeps() || !keepsPages()) return
  try {
    await set(key(id), ofText(first))
    const all = [id, ...recall<string[]>('texts', []).filter((other) => other !== id)]
    remember('texts', all.slice(0, most))
    await Promise.all(all.slice(most).map(letGo))
    await keepPictures(id, first.steps.map((s) => s.content_markdown).join('\n') + (first.codelab.guide_markdown ?? ''))
  } catch {
    // Storage is full or unavailable.
  }
  if (!keeps()) await letGo(id) // the person has signed out meanwhile
}

async function keepPictures(codelab: string, text: string): Promise<void> {
  const wanted = new Set(text.match(/\/uploads\/images\/[0-9a-f]{32}\.\w{1,5}/g))
  if (wanted.size === 0 && !(await caches.has(pictures(codelab)))) return
  const cache = await caches.open(pictures(codelab))
  for (const request of await cache.keys()) if (!wanted.delete(pathOf(new URL(request.url)))) await cache.delete(request)
  for (const path of wanted) await cache.add(sitePath(path)).catch(() => {})
}

/** The stored text, or null if this device has none. */
export async function keptText(codelab: string): Promise<First | null> {
  if (!keeps()) return null
  return (await get<First>(key(codelab)).catch(() => undefined)) ?? null
}

/** Deletes one text. */
export async function letGo(codelab: string): Promise<void> {
  remember(
    'texts',
    recall<string[]>('texts', []).filter((other) => other !== codelab),
  )
  await Promise.all([del(key(codelab)).catch(() => {}), dropPictures(pictures(codelab))])
}

/** Deletes all texts, because another person can use the device next. */
export async function letGoOfTexts(): Promise<void> {
  await Promise.all(recall<string[]>('texts', []).map(letGo))
  remember('texts', undefined)
}

/** Deletes the images of all texts. The texts are deleted with the rest of the database. */
export async function letGoOfPictures(): Promise<void> {
  if (!('caches' in globalThis)) return
  for (const name of await caches.keys()) if (name.startsWith(pictures(''))) await dropPictures(name)
}

async function dropPictures(name: string): Promise<void> {
  if ('caches' in globalThis) await caches.delete(name).catch(() => {})
}
