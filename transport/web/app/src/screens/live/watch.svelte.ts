// A facilitator's view: the floor, the times on each step, and the room's step. The floor is drawn
// at most four times per second.
import { api, ask, type Schemas } from '../../api/client'
import { serverNow } from '../../device/now'
import { recall, remember } from '../../device/remember'
import type { Room } from '../../live/room.svelte'
import { leader } from '../../admin/leader.svelte'
import { m } from '../../messages/compiled/messages.js'
import { complain, toast } from '../../parts/toasts.svelte'
import { defaultThresholds, Floor, moods, noMoods, steadyForm, verdict, type Column, type Moods, type Thresholds, type Verdict } from '../../workshop/floor'
import type { Workshop } from '../../workshop/state'

/** The interval at which the floor is drawn if something has changed, in milliseconds. */
const every = 250

export class Watch {
  readonly room: Room
  columns = $state.raw<readonly Column[]>([])
  moods = $state.raw<Moods>(noMoods)
  verdict = $state.raw<Verdict | null>(null)
  overview = $state.raw<Schemas['Overview'] | null>(null)
  /** The current time, updated each second, in Unix milliseconds. */
  now = $state(serverNow())
  /**
   * The current time, updated each minute, in Unix milliseconds. All displays of minutes share it,
   * so that they change together.
   */
  minute = $state(serverNow())
  /**
   * The step whose notes the facilitator browses, 0 for the preparation, or null to follow the
   * room.
   */
  #browsed = $state<number | null>(null)
  /** The time at which the verdict's word last changed, in Unix milliseconds. */
  #wordSince = 0
  thresholds = $state<Thresholds>(defaultThresholds)
  #drawn: Workshop | null = null
  #floor = new Floor()

  constructor(room: Room) {
    this.room = room
    this.thresholds = recall(`thresholds:${room.id}`, defaultThresholds)
  }

  /** The room's step: the pointer's step, or else the step with the most people, or else 1. */
  readonly at = $derived.by(() => {
    const w = this.room.now
    if (!w) return 1
    if (w.codelab.pointer) return w.codelab.pointer.step_number ?? 1
    const steps = this.columns.filter((c) => c.step > 0)
    const most = Math.max(...steps.map((c) => c.seats.length), 0)
    return most > 0 ? steps.findIndex((c) => c.seats.length === most) + 1 : 1
  })

  /**
   * The step whose notes are visible, or 0 for the preparation. Reading the notes does not move the
   * room.
   */
  readonly shown = $derived.by(() => Math.min(this.#browsed ?? (this.room.now?.people.size === 0 ? 0 : this.at), this.room.now?.steps.length ?? 0))

  /** Shows the notes of a step. If it is the room's step, the notes follow the room again. */
  browse(step: number): void {
    const last = this.room.now?.steps.length ?? 0
    const to = Math.min(Math.max(step, 0), last)
    this.#browsed = to === this.at ? null : to
  }

  /**
   * The next step for the room: the browsed step, unless it is the preparation, or else the step
   * after the room's step. Null at the end.
   */
  readonly next = $derived.by(() => {
    const to = this.shown !== this.at && this.shown > 0 ? this.shown : this.at + 1
    return to <= (this.room.now?.steps.length ?? 0) ? to : null
  })

  begin(): () => void {
    const draw = setInterval(() => this.#draw(), every)
    const second = setInterval(() => (this.now = serverNow()), 1000)
    const minute = setInterval(() => (this.minute = serverNow()), 60_000)
    const times = setInterval(() => void this.#read(), 10_000)
    void this.#read()
    return () => [draw, second, minute, times].forEach(clearInterval)
  }

  /**
   * Draws for the first time as soon as data has arrived, so that the verdict is visible from the
   * first frame.
   */
  first(): void {
    if (this.#drawn === null) this.#draw()
  }

  /** Draws if something has changed since the last time. */
  #draw() {
    const w = this.room.now
    if (!w || (document.visibilityState === 'hidden' && this.#drawn !== null)) return
    if (w !== this.#drawn) {
      this.#drawn = w
      this.columns = this.#floor.look(w)
      this.moods = moods(this.columns)
    }
    const now = serverNow()
    const found = verdict(this.columns, w.help, this.at, this.thresholds, now)
    const before = this.verdict?.form ?? null
    const form = steadyForm(before, found.form, (now - this.#wordSince) / 1000)
    if (form !== before) this.#wordSince = now
    this.verdict = { ...found, form }
  }

  async #read() {
    if (document.visibilityState === 'hidden') return
    try {
      this.overview = await ask(api.GET('/codelabs/{id}/overview', { params: { path: { id: this.room.id } } }))
    } catch {
      // The next update retries.
    }
  }

  keepThresholds(): void {
    remember(`thresholds:${this.room.id}`, $state.snapshot(this.thresholds))
  }

  /**
   * Moves everybody to a step. The move can be undone for some seconds, unless the room has moved
   * again.
   */
  bring(step: number): void {
    const before = this.room.now?.codelab.pointer ?? null
    this.#browsed = null
    if (!this.point(step)) return
    const undo = () => {
      const now = this.room.now?.codelab.pointer
      const mine = now?.step_number === step && (now.person === null ? leader.rank === 'owner' : now.person === leader.id)
      if (mine) this.point(before?.step_number ?? null, before?.hints ?? false)
    }
    toast(m.brought({ step }), { label: m.undo(), run: undo })
  }

  /**
   * Sets the pointer to a step. With null it removes the pointer. Returns false and shows an error
   * if the outbox is full.
   */
  point(step: number | null, hints = false): boolean {
    const said = this.room.say({ type: 'pointer', step_number: step, hints })
    if (!said) complain(m.chat_full())
    return said
  }
}
