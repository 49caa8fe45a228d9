// The settings for notifications, stored on this device. Sound and browser notifications are off by
// default.
import { recall, remember } from '../device/remember'

export interface Settings {
  sound: boolean
  /** Whether browser notifications are on. */
  desktop: boolean
  /**
   * The requests for help that notify a facilitator: all, only those that arrive while the queue is
   * empty, or none.
   */
  help: 'each' | 'first' | 'none'
  /** Whether a direct message notifies a facilitator. */
  direct: boolean
  /**
   * Whether an attendee is notified when a helper comes, did not find them or has answered in
   * writing, and when they are next in the queue.
   */
  turn: boolean
  /** Whether a message to everybody notifies an attendee. */
  broadcast: boolean
  /** Whether the end of the timer causes a notification, for instance at the end of a break. */
  time: boolean
}

const begin: Settings = { sound: false, desktop: false, help: 'each', direct: true, turn: true, broadcast: true, time: true }
const key = 'call'

let settings = $state.raw<Settings>({ ...begin, ...recall<Partial<Settings>>(key, {}) })

export const calling = {
  get settings() {
    return settings
  },
  /** Whether any notification is on. The marks on the tab's title and icon are always on. */
  get on() {
    return settings.sound || settings.desktop
  },
  set(change: Partial<Settings>) {
    settings = { ...settings, ...change }
    remember(key, settings)
  },
}
