// The remaining seconds of the workshop's timer, by the server's clock.
import { stopwatch } from '../device/moments'
import { serverNow } from '../device/now'
import { m } from '../messages/compiled/messages.js'
import { announce } from '../parts/announcer.svelte'
import type { Timer } from '../workshop/state'
import { markPassed, secondsLeft, timerShows, type Mark } from './timer'

/** The interval of the checks, short enough that seconds change on time, in milliseconds. */
const every = 200

const said: Record<Mark, () => string> = {
  300: () => m.timer_heard_left({ count: 5 }),
  60: () => m.timer_heard_left({ count: 1 }),
  0: m.timer_heard_over,
}

export class Countdown {
  readonly #timer: () => Timer | null
  readonly #onend: () => void
  /** The shown timer, or null. */
  timer = $state.raw<Timer | null>(null)
  /** The remaining whole seconds. */
  left = $state(0)
  /** The timer at the last check, and its remaining time then. */
  #seen: { timer: string; left: number } | null = null

  /**
   * timer returns the current timer. onend is called once if the timer ends while the page is open.
   */
  constructor(timer: () => Timer | null, onend: () => void = () => {}) {
    this.#timer = timer
    this.#onend = onend
  }

  get text(): string {
    return stopwatch(this.left)
  }

  begin(): () => void {
    this.look()
    const timer = setInterval(() => this.look(), every)
    return () => clearInterval(timer)
  }

  look(): void {
    const now = serverNow()
    const timer = this.#timer()
    if (!timerShows(timer, now)) {
      this.timer = null
      this.#seen = null
      return
    }
    this.timer = timer
    this.left = secondsLeft(timer, now)
    // An extended timer has another end, so the seconds left can increase. An increase passes no
    // mark.
    const before = this.#seen?.timer === timer.ends_at ? this.#seen.left : this.left
    this.#seen = { timer: timer.ends_at, left: this.left }
    const mark = markPassed(before, this.left)
    if (mark === null) return
    announce(said[mark]())
    if (mark === 0) this.#onend()
  }
}
