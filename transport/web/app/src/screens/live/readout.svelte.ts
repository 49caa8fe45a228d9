// The setting for whether the live view announces new requests for help, stored on this device.
import { recall, remember } from '../../device/remember'

let on = $state(recall('live:read-out', true))

export const readOut = {
  get on() {
    return on
  },
  set on(now: boolean) {
    on = now
    remember('live:read-out', now)
  },
}
