// Registers the service worker; and loads a page anew when the server has another build
// of the app and nothing is typed in the page.
import { isHeld } from '../device/busy'
import { pathOf, sitePath } from '../device/place'
import { getLocale } from '../messages/locale'
import { keepsPages } from './kept'
import type { Loaded } from './shell'

/** A page that has been open for long looks for another build in this time, milliseconds. */
const often = 30 * 60_000

/** By itself a page is loaded anew once in this time, milliseconds: of several servers each may have a build of its own for a while. */
const apart = 10 * 60_000

const reloaded = 'atelier:reloaded'

/** What was typed into, and may still hold it. */
const touched = new Set<Element>()

/** Whether nothing is lost and nobody is interrupted when the page is loaded anew. */
export function isIdle(root: Document = document): boolean {
  for (const e of touched) if (!e.isConnected || !holds(e)) touched.delete(e)
  return (
    touched.size === 0 &&
    !isHeld() &&
    !root.fullscreenElement &&
    !root.querySelector('dialog[open], [popover]:popover-open, video') &&
    !field(root.activeElement)
  )
}

const field = (e: Element | null) => !!e?.matches('input:not([type=checkbox], [type=radio], [type=button]), textarea, select, [contenteditable]')

function holds(e: Element): boolean {
  // What was chosen may not be sent yet.
  return 'value' in e ? e.value !== '' : (e.textContent ?? '') !== ''
}

/** Looks for another build: the server has been away, perhaps to get one. Whole rooms come back at once, so each waits a little. */
export function lookForBuild(): void {
  if (!keepsPages()) return
  setTimeout(
    () =>
      void navigator.serviceWorker
        .getRegistration()
        .then((r) => r?.update())
        .catch(() => {}),
    Math.random() * 20_000,
  )
}

/** Called once, when the page is shown. */
export function followBuilds(): void {
  document.addEventListener('input', (e) => e.target instanceof Element && touched.add(e.target), true)
  if (!keepsPages()) return
  const { serviceWorker } = navigator
  const register = () =>
    void serviceWorker
      .register(sitePath('/sw.js'))
      .then((registration) => setInterval(() => void registration.update().catch(() => {}), often)) // offline
      .catch(() => {}) // forbidden here: the page is not kept
  // The first time it fetches about as much again as the page: not while a whole room joins.
  if (serviceWorker.controller) register()
  else setTimeout(register, 3000 + Math.random() * 5000)
  let before = serviceWorker.controller
  serviceWorker.addEventListener('controllerchange', () => {
    tell()
    // The first one has no other build before it.
    if (before) reloadWhenIdle()
    before = serviceWorker.controller
  })
  tell()
}

/** Tells the worker what this page has loaded: it was not there when that happened. */
function tell(): void {
  const files = performance.getEntriesByType('resource').map((r) => pathOf(new URL(r.name)))
  const loaded: Loaded = { locale: getLocale(), files: files.filter((f) => f.startsWith('/assets/')) }
  navigator.serviceWorker.controller?.postMessage(loaded)
}

/** Whether the page was not loaded anew by itself in the last milliseconds; where that cannot be kept, it never is. */
export function mayReload(within: number): boolean {
  try {
    sessionStorage.setItem(reloaded, sessionStorage.getItem(reloaded) ?? '0')
    return Date.now() - Number(sessionStorage.getItem(reloaded)) >= within
  } catch {
    return false
  }
}

/** Loads the page anew once nobody is interrupted. */
export function reloadWhenIdle(within = apart): void {
  const look = setInterval(() => {
    if (!isIdle() || !mayReload(within)) return
    clearInterval(look)
    sessionStorage.setItem(reloaded, String(Date.now()))
    location.reload()
  }, 1000)
}
