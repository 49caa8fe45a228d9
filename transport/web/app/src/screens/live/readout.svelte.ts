// Whether new requests for help are read out in the live view; kept on this device.
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
