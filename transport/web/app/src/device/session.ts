// The session of this browser. It is created under a lock, so that two tabs cannot overwrite each
// other's grants. A sign-out deletes the person's data from this device.
import { clear } from 'idb-keyval'
import { api, ask } from '../api/client'
import { base, sitePath } from './place'
import { letGoOfPictures, letGoOfTexts } from '../offline/kept'
import { begun, silence } from './remember'
import { countDrafts } from './drafts'
import { unsentHere } from './person'
import { localeKey } from '../messages/locale'

/** Runs a login or registration. It waits until no other tab of this browser is running one. */
export async function alone<T>(begin: () => Promise<T>): Promise<T> {
  const locks = navigator.locks as LockManager | undefined
  const first = async () => {
    // Nobody is signed in, so this login can be another person's. The texts of the last person are
    // deleted.
    if (!mayBeKnown()) await letGoOfTexts().catch(() => {})
    return begin()
  }
  if (!locks) return first() // not a secure context
  let done: Promise<T> | undefined
  await locks.request('atelier-session', () => (done = first())).catch(() => {}) // an error of the function is reported by done
  return done ?? first() // browsers refuse locks in frames with blocked storage
}

/**
 * Whether a session can exist. Pages can read its CSRF cookie, which expires together with the
 * session.
 */
export const mayBeKnown = () => /(?:^|; )svc_csrf=/.test(document.cookie)

/** The storage keys of the settings that belong to this device, not to a person. */
const stays = ['atelier:theme', localeKey]

/** The message that a tab sends to all other tabs after a sign-out. */
const signedOut = 'signed out'
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('atelier') : null

/**
 * Signs out, and removes the person's data from this device: names, codes, drafts and unsent
 * messages. If there are unsent texts, sure is called first with their number, to ask the person.
 * Afterwards this tab opens the address `to`, and all other tabs open the start page. Returns false
 * if the person cancels.
 */
export async function signOut(to: string, sure: (count: number) => boolean): Promise<boolean> {
  const count = unsentHere().length + (await countDrafts())
  if (count > 0 && !sure(count)) return false
  // The response makes browsers that support Clear-Site-Data delete all storage.
  const shown = stays.map((key) => [key, stored(key)] as const)
  await ask(api.POST('/logout'))
  await forgetAll()
  for (const [key, value] of shown) if (value !== null) store(key, value)
  channel?.postMessage(signedOut)
  location.replace(sitePath(to))
  return true
}

function stored(key: string): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}

function store(key: string, value: string) {
  try {
    localStorage.setItem(key, value)
  } catch {
    // Storage is unavailable, so the setting is lost and must be selected again.
  }
}

async function forgetAll(): Promise<void> {
  silence()
  begun.clear()
  try {
    // Below a base path, the storage is shared with other apps of the host.
    for (const kept of [localStorage, sessionStorage])
      for (const key of Object.keys(kept)) if (!stays.includes(key) && (base === '' || key.startsWith('atelier'))) kept.removeItem(key)
  } catch {
    // Storage is unavailable, so nothing is stored.
  }
  await clear().catch(() => {})
  await letGoOfPictures().catch(() => {})
}

/** Follows session changes in other tabs. Called once, before anything is shown. */
export function followSession(): void {
  // This tab's data must neither be stored nor stay visible.
  channel?.addEventListener('message', (e) => {
    if (e.data !== signedOut) return
    document.documentElement.hidden = true
    // The data is deleted once more, because this tab can store data between the sign-out and the
    // message. Leaving the page would end the deletion.
    void forgetAll().finally(() => location.replace(sitePath('/')))
  })
  // A page restored from the back/forward cache shows old data, perhaps of somebody else.
  addEventListener('pageshow', (e: PageTransitionEvent) => {
    if (!e.persisted) return
    document.documentElement.hidden = true
    location.reload()
  })
}
