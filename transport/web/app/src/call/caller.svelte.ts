// Notifications: marks on a background tab, the sound and browser notifications. Each tab shows a
// count in its title, but only one tab per codelab plays sounds and shows notifications. The sound
// is also played while somebody looks at the tab.
import type { Room } from '../live/room.svelte'
import { m } from '../messages/compiled/messages.js'
import { desktop, show } from './desktop.svelte'
import { attendeeCalls, facilitatorCalls, nowNext, waiting, type Call, type Reason } from './reasons'
import { calling } from './settings.svelte'
import { ring, unlock } from './sound'
import { dot, lookedAt } from './tab.svelte'

/** Notifications contain no names and no texts, since they appear on locked and shared screens. */
const words: Record<Reason, () => string> = {
  help: m.call_says_help,
  direct: m.call_says_direct,
  coming: m.call_says_coming,
  missed: m.call_says_missed,
  answer: m.call_says_answer,
  next: m.call_says_next,
  broadcast: m.call_says_broadcast,
  time: m.call_says_time,
}

export class Caller {
  readonly #room: Room
  readonly #leads: boolean
  /** The numbers of notifications and of direct messages since the page was last looked at. */
  #unseen = $state.raw({ all: 0, direct: 0 })
  /**
   * The count in the title. For facilitators it counts waiting requests and unseen direct messages,
   * for attendees unseen notifications.
   */
  readonly count = $derived.by(() => (this.#leads ? waiting(this.#room.now?.help ?? []).size + this.#unseen.direct : this.#unseen.all))
  /**
   * The requests that were waiting when messages last arrived, or null before the first messages.
   */
  #waited: ReadonlySet<string> | null = null
  /** False while another tab sends the notifications. */
  #calls = false

  constructor(room: Room) {
    this.#room = room
    this.#leads = room.role === 'admin'
  }

  /** Listens until the returned function is called. */
  begin(): () => void {
    desktop.follow()
    const release = this.#alone()
    const heard = this.#room.onArrival((told, missed) => {
      const help = waiting(this.#room.now?.help ?? [])
      const calls = this.#leads ? facilitatorCalls(told, this.#waited ?? this.#before(told, help), calling.settings) : attendeeCalls(told, calling.settings)
      this.#waited = help
      // Messages that were missed during an interruption cause no notifications, because they are
      // too old. The page shows them.
      if (!missed) this.#tell(calls)
    })
    const pressed = () => {
      if (calling.settings.sound) unlock()
    }
    const looked = () => {
      if (lookedAt()) this.#count(0, 0)
    }
    const on = [
      [document, 'visibilitychange', looked],
      [globalThis, 'focus', looked],
      [document, 'pointerdown', pressed],
      [document, 'keydown', pressed],
    ] as const
    for (const [where, what, f] of on) where.addEventListener(what, f)
    return () => {
      for (const [where, what, f] of on) where.removeEventListener(what, f)
      heard()
      release()
      dot(false)
    }
  }

  /** Called when the attendee's place in the queue has changed. */
  placed(before: number | null, after: number | null): void {
    if (nowNext(before, after)) this.#tell([{ reason: 'next', loud: calling.settings.turn }])
  }

  /** Called when the timer has ended. */
  timeUp(): void {
    this.#tell([{ reason: 'time', loud: calling.settings.time }])
  }

  /**
   * Returns the requests that were already waiting before the first messages arrived. These are the
   * waiting requests that the messages do not contain.
   */
  #before(told: Parameters<typeof facilitatorCalls>[0], help: ReadonlySet<string>): ReadonlySet<string> {
    const asked = new Set(told.map((t) => ('id' in t ? t.id : null)))
    return new Set([...help].filter((id) => !asked.has(id)))
  }

  #tell(calls: readonly Call[]): void {
    if (calls.length === 0) return
    const looked = lookedAt()
    if (!looked) this.#count(this.#unseen.all + calls.length, this.#unseen.direct + calls.filter((c) => c.reason === 'direct').length)
    const loud = calls.filter((c) => c.loud)
    const last = loud.at(-1)
    if (!last || !this.#calls) return
    if (calling.settings.sound) void ring().catch(() => {})
    if (calling.settings.desktop && !looked)
      void show(this.#room.now?.codelab.title ?? '', { body: words[last.reason](), tag: `${this.#room.id}:${last.reason}`, path: location.pathname })
  }

  #count(all: number, direct: number): void {
    this.#unseen = { all, direct }
    dot(all > 0)
  }

  /** Acquires the lock that lets this tab send notifications. The returned function releases it. */
  #alone(): () => void {
    // Pages in an insecure context (plain HTTP) have no locks, so several tabs can play the sound.
    // Such pages are rare enough to accept this.
    if (!navigator.locks) {
      this.#calls = true
      return () => {}
    }
    const gone = new AbortController()
    let release = () => {}
    const held = () => {
      this.#calls = true
      return new Promise<void>((done) => (release = done))
    }
    void navigator.locks.request(`call:${this.#room.role}:${this.#room.id}`, { signal: gone.signal }, held).catch(() => {
      if (!gone.signal.aborted) this.#calls = true // the browser refused the lock, for example in a frame without storage
    })
    return () => {
      this.#calls = false
      gone.abort()
      release()
    }
  }
}
