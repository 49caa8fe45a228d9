// Overlays of the page register here, so that the browser's Back closes them.
import { untrack } from 'svelte'
import { Back } from '../device/back'
import { pathOf } from '../device/place'
import { route } from '../routes'

const back = new Back(history)

/**
 * Whether the address matches the visible page. It does not while a dialog asks whether to leave.
 */
const here = () => (route.pathname as string) === pathOf(location)

// This listener runs before the router's, which would restart the page.
addEventListener('popstate', (e) => back.arrived(here()) && e.stopImmediatePropagation(), { capture: true })

/** The visible page has a new address. Adds a history entry once no overlay is open. */
export const visit = (url: string): void => back.visit(url)

/** Below this width overlays cover most of the screen. */
const narrow = matchMedia('(max-width: 1099px)')

/** Registers an opened overlay. Call the returned function when the overlay has closed. */
export function overlay(close: () => void): () => void {
  return narrow.matches && untrack(here) ? back.open(close) : () => {}
}
