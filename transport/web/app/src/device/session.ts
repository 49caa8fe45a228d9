// The session of this browser. It begins under a lock, so that neither of two tabs loses a grant
// of the other. When it ends, this device forgets the person.
import { clear } from 'idb-keyval'
import { api, ask } from '../api/client'
import { base, sitePath } from './place'
import { letGoOfPictures, letGoOfTexts } from '../offline/kept'
import { begun, silence } from './remember'
import { unsentHere } from './person'
import { localeKey } from '../messages/locale'

/** Runs what logs in or registers, one tab of this browser after the other. */
export async function alone<T>(begin: () => Promise<T>): Promise<T> {
  const locks = navigator.locks as LockManager | undefined
  const first = async () => {
    // Nobody is signed in any more: who comes now need not be who was here.
    if (!mayBeKnown()) await letGoOfTexts().catch(() => {})
    return begin()
  }
  if (!locks) return first() // this is not a secure context
  let done: Promise<T> | undefined
  await locks.request('atelier-session', () => (done = first())).catch(() => {}) // what it came to is below
  return done ?? first() // the browser refuses locks in frames whose data it blocks
}

/** Whether this browser possibly has a session: its token, which pages can read, lasts as long. */
export const mayBeKnown = () => /(?:^|; )svc_csrf=/.test(document.cookie)

/** How this device shows pages, which is nobody's. */
const stays = ['atelier:theme', localeKey]

/** What tabs tell each other. */
const signedOut = 'signed out'
const channel = 'BroadcastChannel' in globalThis ? new BroadcastChannel('atelier') : null

/**
 * Signs out, and removes the person's data from this device: names, codes, drafts and unsent
 * messages. If there are unsent messages, it calls sure first. Then it and all other tabs go to
 * an address. Returns false if the person cancels.
 */
export async function signOut(to: string, sure: (count: number) => boolean): Promise<boolean> {
  const count = unsentHere().length
  if (count > 0 && !sure(count)) return false
  // The answer clears the storage of browsers that understand it, all of it.
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
    // It is chosen again.
  }
}

async function forgetAll(): Promise<void> {
  silence()
  begun.clear()
  try {
    // Below a path of its host this server shares them with others.
    for (const kept of [localStorage, sessionStorage])
      for (const key of Object.keys(kept)) if (!stays.includes(key) && (base === '' || key.startsWith('atelier'))) kept.removeItem(key)
  } catch {
    // Forbidden here: then nothing is kept either.
  }
  await clear().catch(() => {})
  await letGoOfPictures().catch(() => {})
}

/** Lets a page follow the session; called once, before anything is shown. */
export function followSession(): void {
  // Nothing that this tab still has may be kept, nor be seen.
  channel?.addEventListener('message', (e) => {
    if (e.data !== signedOut) return
    document.documentElement.hidden = true
    // Once more, for data that this tab stored between that sign-out and its message.
    void forgetAll()
    location.replace(sitePath('/'))
  })
  // A page that comes back from the browser's history shows what was read long ago,
  // and perhaps by somebody else.
  addEventListener('pageshow', (e: PageTransitionEvent) => {
    if (!e.persisted) return
    document.documentElement.hidden = true
    location.reload()
  })
}
