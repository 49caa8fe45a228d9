// What calls a person who looks elsewhere; kept on this device, and off until they
// switch it on.
import { recall, remember } from '../device/remember'

export interface Settings {
  sound: boolean
  /** A notification of the browser. */
  desktop: boolean
  /** Which requests for help call a facilitator: each one, those that come when nobody waits, or none. */
  help: 'each' | 'first' | 'none'
  /** Direct messages call a facilitator. */
  direct: boolean
  /** An attendee is called when somebody comes or did not find them, and when they are next. */
  turn: boolean
  /** Messages to everybody call an attendee. */
  broadcast: boolean
  /** The end of the timer calls, for instance the end of a break. */
  time: boolean
}

const begin: Settings = { sound: false, desktop: false, help: 'each', direct: true, turn: true, broadcast: true, time: true }
const key = 'call'

let settings = $state.raw<Settings>({ ...begin, ...recall<Partial<Settings>>(key, {}) })

export const calling = {
  get settings() {
    return settings
  },
  /** Whether anything but the title and the icon of the tab calls. */
  get on() {
    return settings.sound || settings.desktop
  },
  set(change: Partial<Settings>) {
    settings = { ...settings, ...change }
    remember(key, settings)
  },
}
