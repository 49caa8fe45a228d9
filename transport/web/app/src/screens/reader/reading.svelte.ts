// An attendee's position in the text, and the available actions.
import { tick } from 'svelte'
import { appInfo } from '../../api/app'
import { recall, remember } from '../../device/remember'
import type { Room } from '../../live/room.svelte'
import type { Attendee, Pulse, Step } from '../../workshop/state'
import { m } from '../../messages/compiled/messages.js'
import { visit } from '../../parts/overlay'
import { complain } from '../../parts/toasts.svelte'
import { addressed, addressOf } from './address'
import { OwnHelp } from '../../help/attend/help.svelte'

/** The pages other than the steps. */
export type Extra = 'guide' | 'quiz' | 'feedback' | 'handin' | 'done'
export type Place = number | Extra
export type Panel = 'chat' | 'questions' | 'polls' | 'notes' | 'ask' | 'code' | 'files'

export class Reading {
  readonly room: Room
  #key: string
  /** The current page, or null until it is known. */
  at = $state<Place | null>(null)
  panel = $state<Panel | null>(null)
  readonly help: OwnHelp
  /** The selected text for a question to the AI. */
  quoted = $state('')
  /** Whether the AI is available in this codelab. */
  asks = $derived.by(() => this.answers && this.room.now?.codelab.ai_enabled === true)
  /**
   * Whether the codelab accepts questions or has questions. Questions stay readable after the
   * workshop.
   */
  readonly questions = $derived.by(() => {
    const w = this.room.now
    return w !== null && ((w.codelab.questions ?? 'off') !== 'off' || w.questions.byId.size > 0)
  })
  /** Whether the server has an AI. */
  answers = $state(false)
  /** Whether the current step was removed, until the notice is dismissed. */
  removed = $state(false)
  /** The person with the open direct messages, or null for the room's chat. */
  talkingTo = $state<string | null>(null)
  /** The id of the open thread. */
  thread = $state<string | null>(null)

  constructor(room: Room) {
    this.room = room
    this.help = new OwnHelp(room)
    this.#key = `reading:${room.id}`
    const kept = recall<{ at?: Place; panel?: Panel | null }>(this.#key, {})
    this.#kept = kept.at ?? null
    void appInfo().then(
      (app) => (this.answers = app.ai),
      () => {},
    )
    this.panel = kept.panel === undefined ? (innerWidth >= 1100 ? 'chat' : null) : innerWidth >= 1100 ? kept.panel : null
  }

  #kept: Place | null

  readonly me = $derived.by<Attendee | null>(() => {
    const w = this.room.now
    return w?.people.get(w.me) ?? null
  })

  readonly steps = $derived.by<readonly Step[]>(() => this.room.now?.steps ?? [])

  readonly step = $derived.by<Step | null>(() => (typeof this.at === 'number' ? (this.steps[this.at - 1] ?? null) : null))

  readonly pulse = $derived.by<Pulse | null>(() => this.me?.pulse?.state ?? null)

  /** The pages of this codelab after the steps. */
  readonly extras = $derived.by<Extra[]>(() => {
    const lab = this.room.now?.codelab
    if (!lab) return []
    const out: Extra[] = []
    if (lab.quiz_enabled && (this.room.quizzes?.length ?? 0) > 0) out.push('quiz')
    out.push('handin', 'feedback', 'done')
    return out
  })

  /** All pages in order. If the codelab has a guide, it is the first. */
  readonly pages = $derived.by<Place[]>(() => [
    ...(this.room.now?.codelab.guide_markdown ? (['guide'] as const) : []),
    ...this.steps.map((s) => s.step_number),
    ...this.extras,
  ])

  #finished = $state.raw<ReadonlySet<Extra>>(new Set())

  /** Whether the attendee has completed a page, according to the data on this device. */
  finished(page: Extra): boolean {
    return page === 'done' ? this.me?.is_completed === true : this.#finished.has(page)
  }

  finish(page: Extra): void {
    this.#finished = new Set(this.#finished).add(page)
  }

  /** The storage keys for answers to the quiz and for sent feedback. */
  readonly kept = $derived.by(() => ({
    quiz: `quiz:${this.room.id}:${this.room.now?.me ?? ''}`,
    feedback: `feedback:${this.room.id}:${this.room.now?.me ?? ''}`,
  }))

  /** Opens the position in the address, or else the last position on the server or this device. */
  begin(): void {
    if (this.at !== null || this.steps.length === 0) return
    if (Object.keys(recall<object>(this.kept.quiz, {})).length > 0) this.finish('quiz')
    if (recall(this.kept.feedback, false)) this.finish('feedback')
    const there = addressed(location.search, this.steps.length)
    const asked = there.step
    const kept = this.#kept
    const valid = (n: unknown): n is number => typeof n === 'number' && Number.isInteger(n) && n >= 1 && n <= this.steps.length
    this.#block = there.block
    if (asked !== null) this.at = asked
    else if (there.page !== null && this.pages.includes(there.page)) this.at = there.page
    else if (this.me) this.at = kept !== null && typeof kept !== 'number' ? kept : this.me.current_step
    else this.at = kept !== null && (typeof kept !== 'number' || valid(kept)) ? kept : 1
    if (typeof this.at === 'number' && !valid(this.at)) this.at = 1
    // A link to a step moves the attendee to that step.
    if (asked !== null && this.me?.current_step !== asked) this.#tellStep(asked)
    if (this.at !== null) history.replaceState(history.state, '', addressOf(this.at) + location.hash)
  }

  /** Called when the browser has gone back or forward to another address of this codelab. */
  returned(): void {
    const there = addressed(location.search, this.steps.length)
    const to = there.step ?? (there.page !== null && this.pages.includes(there.page) ? there.page : null)
    this.#block = there.block
    if (to !== null) this.#move(to)
  }

  /** The paragraph to which the page scrolls when it is shown, counted from 1, or null. */
  #block: number | null = null

  /**
   * Whether a page can be opened. The steps must be loaded, and the attendee's record must be
   * loaded or unavailable.
   */
  readonly known = $derived.by(() => {
    const w = this.room.now
    return w !== null && this.steps.length > 0 && (this.me !== null || w.people.size > 0 || this.room.status.state !== 'connecting')
  })

  #before: readonly Step[] = []

  /**
   * Follows moved and removed steps, like the server. An attendee stays on their step. If that step
   * was removed, the attendee moves to the nearest remaining earlier step, or else to the first.
   */
  follow(): void {
    const before = this.#before
    this.#before = this.steps
    if (typeof this.at !== 'number' || this.steps.length === 0) return
    if (before === this.steps) return
    const was = this.at
    const now = new Map(this.steps.map((s) => [s.id, s.step_number]))
    if (before.some((s) => now.has(s.id))) {
      const stays = before.slice(0, this.at).findLast((s) => now.has(s.id))
      const own = before[this.at - 1]
      if (own && !now.has(own.id)) this.removed = true
      this.at = stays ? now.get(stays.id)! : 1
    } else {
      this.at = Math.min(this.at, this.steps.length)
    }
    if (this.at === was) return // the address can contain a heading
    history.replaceState(history.state, '', addressOf(this.at))
    this.#keep()
  }

  go(to: Place): void {
    if (to === this.at) return
    this.#move(to)
    visit(addressOf(to))
  }

  #move(to: Place) {
    if (to === this.at) return
    this.at = to
    this.removed = false
    this.#keep()
    if (typeof to === 'number') this.#tellStep(to)
  }

  #tellStep(to: number) {
    this.room.say({ type: 'step_progress', step_number: to })
  }

  /** The next page (n is 1) or the previous page (n is -1), or null if there is none. */
  beside(n: 1 | -1): Place | null {
    if (this.at === null) return null
    const i = this.pages.indexOf(this.at)
    return this.pages[i + n] ?? null
  }

  turn(n: 1 | -1): void {
    const to = this.beside(n)
    if (to !== null) this.go(to)
  }

  /** The fragment to which the page scrolls when it is shown, or null. */
  #sought: string | null = location.hash.length > 1 ? location.hash.slice(1) : null

  /** Opens the page that contains the target of a link. */
  async seek(fragment: string): Promise<void> {
    const places = await import('../../markdown/places').catch(() => null)
    if (!places) return complain(m.error_part())
    const { stepOf, hasPlace } = places
    const guide = this.room.now?.codelab.guide_markdown
    const to = stepOf(this.steps, fragment)?.step_number ?? (guide && hasPlace(guide, fragment) ? 'guide' : null)
    if (to === null) return
    this.#sought = fragment
    this.go(to)
  }

  /** Called when a text was rendered. Scrolls to the requested place. */
  arrive(text: HTMLElement): void {
    const fragment = this.#sought
    const block = this.#block
    this.#sought = this.#block = null
    if (fragment === null && block === null) return
    void Promise.all([import('../../markdown/anchors'), tick()]).then(([{ placeOf, fragmentOf, goTo }]) => {
      const place = fragment !== null ? placeOf(text, fragmentOf('#' + fragment)) : text.children[block! - 1]
      // Runs after the stored scroll position has been restored.
      requestAnimationFrame(() => (place ? goTo(place as HTMLElement) : text.closest('main')?.scrollTo(0, 0)))
    })
  }

  show(panel: Panel | null): void {
    this.panel = panel
    this.#keep()
  }

  #keep() {
    remember(this.#key, { at: this.at, panel: this.panel })
  }

  /** Sends the mood. Sending the same mood again clears it. */
  feel(state: Pulse): void {
    this.room.say({ type: 'pulse', state: this.pulse === state ? null : state })
  }

  /** Asks for help at the current step. Returns false if that failed. */
  askForHelp(message: string): Promise<boolean> {
    return this.help.ask(typeof this.at === 'number' ? this.at : (this.me?.current_step ?? 1), message)
  }
}
