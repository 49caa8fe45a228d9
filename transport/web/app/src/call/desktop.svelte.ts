import { sitePath } from '../device/place'
// Browser notifications. Phones show them only through a service worker, which is registered when
// notifications are switched on.

export type Permission = 'allowed' | 'blocked' | 'unasked' | 'insecure' | 'missing'

const states: Record<NotificationPermission, Permission> = { granted: 'allowed', denied: 'blocked', default: 'unasked' }

function read(): Permission {
  if (!isSecureContext) return 'insecure'
  if (!('Notification' in globalThis)) return 'missing'
  return states[Notification.permission]
}

/** The service worker registration of this visit, or undefined if this visit made none. */
let registered: Promise<unknown> | undefined

let permission = $state<Permission>('missing')

export const desktop = {
  get permission() {
    return permission
  },
  /** Starts to track changes of the permission in the browser's settings. */
  follow(): void {
    permission = read()
    const ask = navigator.permissions?.query({ name: 'notifications' })
    void ask?.then((status) => (status.onchange = () => (permission = read()))).catch(() => {})
  },
  /**
   * Asks for permission, which browsers allow only during a click. Returns true if it is granted.
   */
  async allow(): Promise<boolean> {
    permission = read()
    if (permission === 'unasked') permission = states[await Notification.requestPermission()]
    if (permission !== 'allowed') return false
    registered = navigator.serviceWorker?.register(sitePath('/sw.js')).catch(() => {}) // an error is harmless, because desktop browsers need no worker
    return true
  },
}

/**
 * Shows a notification that opens the page with the given path. An earlier notification with the
 * same tag is replaced. Returns false if the browser does not show the notification.
 */
export async function show(title: string, options: { body: string; tag: string; path: string }): Promise<boolean> {
  if (read() !== 'allowed') return false
  const shown = { body: options.body, tag: options.tag, icon: sitePath('/favicon.svg'), renotify: true, data: { path: options.path } }
  try {
    await registered
    if (await navigator.serviceWorker?.getRegistration()) {
      await (await navigator.serviceWorker.ready).showNotification(title, shown)
      return true
    }
    const n = new Notification(title, shown)
    n.onclick = () => {
      focus()
      n.close()
    }
    return true
  } catch {
    return false // for example on a phone without a service worker
  }
}
