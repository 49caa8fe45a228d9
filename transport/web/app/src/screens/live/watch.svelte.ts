// What a facilitator watches: the floor, drawn at most four times a second
// whatever arrives, the times on each step, and where the workshop is.
import { api, ask, type Schemas } from '../../api/client'
import { serverNow } from '../../device/now'
import { recall, remember } from '../../device/remember'
import type { Room } from '../../live/room.svelte'
import { defaultThresholds, Floor, moods, noMoods, verdict, type Column, type Moods, type Thresholds, type Verdict } from '../../workshop/floor'
import type { Workshop } from '../../workshop/state'

const every = 250

export class Watch {
  readonly room: Room
  columns = $state.raw<readonly Column[]>([])
  moods = $state.raw<Moods>(noMoods)
  verdict = $state.raw<Verdict | null>(null)
  overview = $state.raw<Schemas['Overview'] | null>(null)
  /** Seconds tick with this, Unix milliseconds. */
  now = $state(serverNow())
  thresholds = $state<Thresholds>(defaultThresholds)
  #drawn: Workshop | null = null
  #floor = new Floor()

  constructor(room: Room) {
    this.room = room
    this.thresholds = recall(`thresholds:${room.id}`, defaultThresholds)
  }

  /** Where the workshop is: as the pointer says, else where most people are. */
  readonly at = $derived.by(() => {
    const w = this.room.now
    if (!w) return 1
    if (w.codelab.pointer) return w.codelab.pointer.step_number ?? 1
    const steps = this.columns.filter((c) => c.step > 0)
    const most = Math.max(...steps.map((c) => c.seats.length), 0)
    return most > 0 ? steps.findIndex((c) => c.seats.length === most) + 1 : 1
  })

  begin(): () => void {
    const draw = setInterval(() => this.#draw(), every)
    const second = setInterval(() => (this.now = serverNow()), 1000)
    const times = setInterval(() => void this.#read(), 10_000)
    void this.#read()
    return () => [draw, second, times].forEach(clearInterval)
  }

  /** Draws when something has changed since. */
  #draw() {
    const w = this.room.now
    if (!w || document.visibilityState === 'hidden') return
    if (w !== this.#drawn) {
      this.#drawn = w
      this.columns = this.#floor.look(w)
      this.moods = moods(this.columns)
    }
    this.verdict = verdict(this.columns, w.help, this.at, this.thresholds, serverNow())
  }

  async #read() {
    if (document.visibilityState === 'hidden') return
    try {
      this.overview = await ask(api.GET('/codelabs/{id}/overview', { params: { path: { id: this.room.id } } }))
    } catch {
      // The next time.
    }
  }

  keepThresholds(): void {
    remember(`thresholds:${this.room.id}`, $state.snapshot(this.thresholds))
  }

  /** Points everybody to a step, or to none. */
  point(step: number | null, hints = false): void {
    this.room.say({ type: 'pointer', step_number: step, hints })
  }
}
