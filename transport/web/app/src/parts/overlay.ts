// Overlays of the page register here, so that the browser's Back closes them.
import { untrack } from 'svelte'
import { Back } from '../device/back'
import { pathOf } from '../device/place'
import { route } from '../routes'

const back = new Back(history)

/**
 * Whether the address matches the visible page. While a dialog asks whether to leave the page, they
 * differ.
 */
const here = () => (route.pathname as string) === pathOf(location)

// This listener runs before the router's listener, which would otherwise restart the page.
addEventListener('popstate', (e) => back.arrived(here()) && e.stopImmediatePropagation(), { capture: true })

/**
 * Called when the visible page has a new address. Adds a history entry as soon as no overlay is
 * open.
 */
export const visit = (url: string): void => back.visit(url)

/** Below this width overlays cover most of the screen. */
const narrow = matchMedia('(max-width: 1099px)')

/**
 * Registers an opened overlay. Call the returned function when the overlay has closed. On a wide
 * screen, Back does not close overlays, so neither function has an effect.
 */
export function overlay(close: () => void): () => void {
  return narrow.matches && untrack(here) ? back.open(close) : () => {}
}
