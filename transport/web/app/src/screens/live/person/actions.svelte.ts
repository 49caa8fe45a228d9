// The actions of a facilitator on one person. A toast reports the result of each request. Direct
// messages are sent through the outbox.
import { api, ask } from '../../../api/client'
import { words } from '../../../api/words'
import { recall, remember } from '../../../device/remember'
import type { Room } from '../../../live/room.svelte'
import { m } from '../../../messages/compiled/messages.js'
import { complain, toast } from '../../../parts/toasts.svelte'

/** The dialogs of a person. */
export type Doing = 'rename' | 'remove' | 'pin' | 'hint'

/** The maximum number of prepared hints. The oldest hints are dropped. */
const maxHints = 20

export class Actions {
  readonly room: Room
  readonly #id: () => string
  /** The dialog that is open. */
  doing = $state<Doing | null>(null)
  /** The text typed in the dialog. */
  text = $state('')
  busy = $state(false)
  /** Prepared hints for this workshop, stored on this device. */
  hints = $state<string[]>([])

  constructor(room: Room, id: () => string) {
    this.room = room
    this.#id = id
    this.hints = recall(`hints:${room.id}`, [])
  }

  begin(what: Doing, first = ''): void {
    this.text = first
    this.doing = what
  }

  offer() {
    const body = { attendee_id: this.#id() } as never
    return this.#act(() => ask(api.POST('/codelabs/{id}/help', { params: { path: { id: this.room.id } }, body })), m.person_offered())
  }
  mute(muted: boolean) {
    return this.#act(
      () => ask(api.PUT('/codelabs/{id}/attendees/{attendee_id}', { ...this.#params(), body: { muted } })),
      muted ? m.person_muted() : m.person_unmuted(),
    )
  }
  rename() {
    const body = { name: this.text.trim() }
    return this.#act(() => ask(api.PUT('/codelabs/{id}/attendees/{attendee_id}', { ...this.#params(), body })), m.person_renamed())
  }
  resetPin() {
    const body = { code: this.text.trim() }
    return this.#act(() => ask(api.POST('/codelabs/{id}/attendees/{attendee_id}/reset-pin', { ...this.#params(), body })), m.person_pin_reset())
  }
  remove() {
    return this.#act(() => ask(api.DELETE('/codelabs/{id}/attendees/{attendee_id}', this.#params())), m.person_removed())
  }

  say(message: string) {
    return this.room.say({ type: 'dm', target_id: this.#id(), message })
  }
  hint(message: string): void {
    if (this.say(message)) toast(m.person_hint_sent())
    else complain(m.chat_full())
  }
  keepHint(text: string): void {
    const given = text.trim()
    if (given !== '') this.#keep([...this.hints.filter((h) => h !== given), given])
  }
  dropHint(text: string): void {
    this.#keep(this.hints.filter((h) => h !== text))
  }
  #keep(now: string[]) {
    this.hints = now.slice(-maxHints)
    remember(`hints:${this.room.id}`, $state.snapshot(this.hints))
  }

  #params() {
    return { params: { path: { id: this.room.id, attendee_id: this.#id() } } }
  }

  /** Runs an action. Returns whether it succeeded. */
  async #act(work: () => Promise<unknown>, done: string): Promise<boolean> {
    this.busy = true
    try {
      await work()
      this.doing = null
      toast(done)
      return true
    } catch (e) {
      complain(words(e))
      return false
    } finally {
      this.busy = false
    }
  }
}
