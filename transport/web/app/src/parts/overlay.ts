// Overlays of the page register here, so that the browser's Back closes them.
import { untrack } from 'svelte'
import { Back } from '../device/back'
import { pathOf } from '../device/place'
import { route } from '../routes'

const back = new Back(history)

/** Whether the address is that of the page that is shown; it is not while one is asked whether one wants to leave. */
const here = () => (route.pathname as string) === pathOf(location)

// This listener runs before the router's, which would restart the page.
addEventListener('popstate', (e) => back.arrived(here()) && e.stopImmediatePropagation(), { capture: true })

/** The page that is shown has another address: an entry of the history, once nothing is open over it. */
export const visit = (url: string): void => back.visit(url)

/** From here on it fills a good part of the screen. */
const narrow = matchMedia('(max-width: 1099px)')

/** Something has opened over the page; call the returned function when it has closed. */
export function overlay(close: () => void): () => void {
  return narrow.matches && untrack(here) ? back.open(close) : () => {}
}
