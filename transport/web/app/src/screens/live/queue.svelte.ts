// The queue of requests for help: their claimants, and a facilitator's actions.
import { leader } from '../../admin/leader.svelte'
import { api, ask } from '../../api/client'
import { serverNow } from '../../device/now'
import { announce } from '../../parts/announcer.svelte'
import { Refused } from '../../api/refused'
import { words } from '../../api/words'
import type { Room } from '../../live/room.svelte'
import { m } from '../../messages/compiled/messages.js'
import { complain, toast } from '../../parts/toasts.svelte'
import type { HelpRequest } from '../../workshop/state'

export class Queue {
  readonly #room: Room
  /** The request that something is being done with. */
  busy = $state<string | null>(null)
  readonly #all = $derived.by(() => (this.#room.now?.help ?? []).toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1)))
  /** The waiting requests, the oldest first. */
  readonly pending = $derived.by(() => this.#all.filter((h) => h.status === 'pending'))
  /** The requests that one has taken oneself. */
  readonly mine = $derived.by(() => this.#all.filter((h) => this.isMine(h)))
  /** The requests that others have taken. */
  readonly others = $derived.by(() => this.#all.filter((h) => h.status === 'in_progress' && !this.isMine(h)))

  /** When requests were taken, as this page saw it, by their ids. */
  readonly #taken = new Map<string, number>()

  constructor(room: Room) {
    this.#room = room
  }

  /** A rehearsal plays who asks. */
  isSimulated(h: HelpRequest): boolean {
    return this.#room.now?.people.get(h.attendee_id)?.simulated ?? false
  }

  /** When a request was taken here, Unix milliseconds; null when that was elsewhere or before the page was opened. */
  takenAt(h: HelpRequest): number | null {
    return this.#taken.get(h.id) ?? null
  }

  /** Whether one has taken a request oneself: names distinguish people who share the owner's account. */
  isMine(h: HelpRequest): boolean {
    return h.status === 'in_progress' && (h.person ?? leader.id) === leader.id && h.claimed_by === this.#room.you?.name
  }

  async take(h: HelpRequest): Promise<boolean> {
    this.#taken.set(h.id, serverNow())
    const done = await this.#act(h, () => ask(api.POST('/codelabs/{id}/help/{help_id}/claim', { params: this.#path(h) })), m.help_taken)
    if (done) announce(h.place ? m.help_taken_at({ place: h.place }) : m.help_taken_of({ name: h.attendee_name }))
    return done
  }

  /** Gives a request back: it waits again in its old place. */
  async putBack(h: HelpRequest): Promise<boolean> {
    const done = await this.#act(h, () => ask(api.POST('/codelabs/{id}/help/{help_id}/release', { params: this.#path(h) })))
    if (done) toast(m.help_back({ name: h.attendee_name }))
    return done
  }

  solved(h: HelpRequest): Promise<boolean> {
    return this.#act(h, () => ask(api.POST('/codelabs/{id}/help/{help_id}/resolve', { params: this.#path(h) })))
  }

  /** Gives a request back: who asked could not be found. */
  async notFound(h: HelpRequest): Promise<boolean> {
    const body = { reason: m.help_not_found_reason() }
    const done = await this.#act(h, () => ask(api.POST('/codelabs/{id}/help/{help_id}/release', { params: this.#path(h), body })))
    if (done) toast(m.help_back({ name: h.attendee_name }))
    return done
  }

  /** Answers several with one message. */
  async answer(chosen: readonly string[], message: string): Promise<boolean> {
    try {
      await ask(api.POST('/codelabs/{id}/help/answer', { params: { path: { id: this.#room.id } }, body: { help_ids: [...chosen], message } }))
      toast(m.help_answered({ count: chosen.length }))
      return true
    } catch (e) {
      complain(words(e))
      return false
    }
  }

  #path(h: HelpRequest) {
    return { path: { id: this.#room.id, help_id: h.id } }
  }

  /** tooLate is what 409 means. */
  async #act(h: HelpRequest, work: () => Promise<unknown>, tooLate?: () => string): Promise<boolean> {
    this.busy = h.id
    try {
      await work()
      return true
    } catch (e) {
      complain(tooLate && e instanceof Refused && e.status === 409 ? tooLate() : words(e))
      return false
    } finally {
      this.busy = null
    }
  }
}
