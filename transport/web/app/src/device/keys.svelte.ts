// The setting for single-key shortcuts in the live view and the reader, stored on this device.
// Speech input types letters that are not meant as shortcuts (WCAG 2.1.4).
import { recall, remember } from './remember'

let on = $state(recall('live:single-keys', true))

export const singleKeys = {
  get on() {
    return on
  },
  set on(now: boolean) {
    on = now
    remember('live:single-keys', now)
  },
}
