// Registers the service worker. Reloads a page if the server has another build of the app and the
// page has no unsaved input.
import { isHeld } from '../device/busy'
import { pathOf, sitePath } from '../device/place'
import { getLocale } from '../messages/locale'
import { keepsPages } from './kept'
import type { Loaded } from './shell'

/** The interval at which an open page checks for another build, in milliseconds. */
const often = 30 * 60_000

/**
 * The minimum time between two automatic reloads, in milliseconds. During an upgrade several
 * servers can have different builds.
 */
const apart = 10 * 60_000

const reloaded = 'atelier:reloaded'

/** The elements into which somebody has typed. They can still contain the text. */
const touched = new Set<Element>()

/** Whether a reload would lose no input and interrupt nobody. */
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
  // A selected value can be unsent.
  return 'value' in e ? e.value !== '' : (e.textContent ?? '') !== ''
}

/**
 * Checks for another build. Called after the server was unavailable, because it may have been
 * upgraded. A whole room reconnects at the same time, so each page waits for a random time.
 */
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

/** Registers the service worker, and follows new builds. Called once, when the page is shown. */
export function followBuilds(): void {
  const touch = (e: Event) => {
    for (const old of touched) if (!old.isConnected) touched.delete(old)
    if (e.target instanceof Element) touched.add(e.target)
  }
  document.addEventListener('input', touch, true)
  if (!keepsPages()) return
  const { serviceWorker } = navigator
  const register = () =>
    void serviceWorker
      .register(sitePath('/sw.js'))
      .then((registration) => setInterval(() => void registration.update().catch(() => {}), often)) // offline
      .catch(() => {}) // the browser does not support workers, so pages are not stored
  // The first registration downloads about as much as the page itself, so it is delayed while a
  // whole room joins.
  if (serviceWorker.controller) register()
  else setTimeout(register, 3000 + Math.random() * 5000)
  let before = serviceWorker.controller
  serviceWorker.addEventListener('controllerchange', () => {
    tell()
    // The first controller does not replace an earlier build, so no reload is needed.
    if (before) reloadWhenIdle()
    before = serviceWorker.controller
  })
  tell()
}

/** Reports to the worker what this page loaded before the worker was running. */
function tell(): void {
  const files = performance.getEntriesByType('resource').map((r) => pathOf(new URL(r.name)))
  const loaded: Loaded = { locale: getLocale(), files: files.filter((f) => f.startsWith('/assets/')) }
  navigator.serviceWorker.controller?.postMessage(loaded)
}

/**
 * Whether the last automatic reload was at least the given number of milliseconds ago. Returns
 * false if the device cannot store the reload time.
 */
export function mayReload(within: number): boolean {
  try {
    sessionStorage.setItem(reloaded, sessionStorage.getItem(reloaded) ?? '0')
    return Date.now() - Number(sessionStorage.getItem(reloaded)) >= within
  } catch {
    return false
  }
}

/**
 * Reloads the page as soon as a reload interrupts nobody, but not within the given number of
 * milliseconds after the last automatic reload.
 */
export function reloadWhenIdle(within = apart): void {
  const look = setInterval(() => {
    if (!isIdle() || !mayReload(within)) return
    clearInterval(look)
    sessionStorage.setItem(reloaded, String(Date.now()))
    location.reload()
  }, 1000)
}
