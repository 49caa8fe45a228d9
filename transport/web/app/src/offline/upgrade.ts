// Registers the service worker. Reloads a page when the server has another build of the
// app and nothing is typed in the page.
import { isHeld } from '../device/busy'
import { pathOf, sitePath } from '../device/place'
import { getLocale } from '../messages/locale'
import { keepsPages } from './kept'
import type { Loaded } from './shell'

/** A page that has been open for long looks for another build in this time, milliseconds. */
const often = 30 * 60_000

/** A page reloads by itself at most once in this time, milliseconds: during an upgrade several servers can have different builds. */
const apart = 10 * 60_000

const reloaded = 'atelier:reloaded'

/** Elements that somebody typed into, and that can still hold the text. */
const touched = new Set<Element>()

/** Whether a reload loses nothing and interrupts nobody. */
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
  // A chosen value can be unsent.
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

/** Whether the page has not reloaded by itself within the given milliseconds. If the device stores no time for that, it is false. */
export function mayReload(within: number): boolean {
  try {
    sessionStorage.setItem(reloaded, sessionStorage.getItem(reloaded) ?? '0')
    return Date.now() - Number(sessionStorage.getItem(reloaded)) >= within
  } catch {
    return false
  }
}

/** Reloads the page once that interrupts nobody. */
export function reloadWhenIdle(within = apart): void {
  const look = setInterval(() => {
    if (!isIdle() || !mayReload(within)) return
    clearInterval(look)
    sessionStorage.setItem(reloaded, String(Date.now()))
    location.reload()
  }, 1000)
}
