// The queue of help requests, with their claims and a facilitator's actions.
import { SvelteMap, SvelteSet } from 'svelte/reactivity'
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
  /** The ids of the requests with a running action. */
  readonly #busy = new SvelteSet<string>()
  /** The unsent written answers, by the id of their request. */
  readonly answers = new SvelteMap<string, string>()
  readonly #all = $derived.by(() => (this.#room.now?.help ?? []).toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1)))
  /** The waiting requests, oldest first. */
  readonly pending = $derived.by(() => this.#all.filter((h) => h.status === 'pending'))
  /** The requests that this facilitator has claimed. */
  readonly mine = $derived.by(() => this.#all.filter((h) => this.isMine(h)))
  /**
   * The requests that other facilitators have claimed while this one was writing an answer. They
   * stay in the queue, so that the text is not lost.
   */
  readonly answering = $derived.by(() => this.#others.filter((h) => this.answers.has(h.id)))
  /** The other requests that other facilitators have claimed. */
  readonly others = $derived.by(() => this.#others.filter((h) => !this.answers.has(h.id)))
  readonly #others = $derived.by(() => this.#all.filter((h) => h.status === 'in_progress' && !this.isMine(h)))

  /** The times at which requests were claimed on this page, by id, in Unix milliseconds. */
  readonly #taken = new Map<string, number>()

  constructor(room: Room) {
    this.#room = room
  }

  get codelab(): string {
    return this.#room.id
  }

  isBusy(h: HelpRequest): boolean {
    return this.#busy.has(h.id)
  }

  /** Sends the written answer to a request, which closes the request. */
  async sendAnswer(h: HelpRequest): Promise<void> {
    const message = this.answers.get(h.id)?.trim() ?? ''
    if (message === '' || this.isBusy(h)) return
    if (await this.answer([h.id], message)) this.answers.delete(h.id)
  }

  /** Whether the request is from somebody simulated by a rehearsal. */
  isSimulated(h: HelpRequest): boolean {
    return this.#room.now?.people.get(h.attendee_id)?.simulated ?? false
  }

  /**
   * The time at which a request was claimed on this page, in Unix milliseconds, or null if it was
   * claimed elsewhere or earlier.
   */
  takenAt(h: HelpRequest): number | null {
    return this.#taken.get(h.id) ?? null
  }

  /**
   * Whether this facilitator claimed a request. People who share the owner's account are
   * distinguished by name.
   */
  isMine(h: HelpRequest): boolean {
    return h.status === 'in_progress' && (h.person ?? leader.id) === leader.id && h.claimed_by === this.#room.you?.name
  }

  async take(h: HelpRequest): Promise<boolean> {
    this.#taken.set(h.id, serverNow())
    // The message about the claim can arrive later than the response. A request that was closed
    // meanwhile stays closed.
    const claim = () =>
      this.#room.request(api.POST('/codelabs/{id}/help/{help_id}/claim', { params: this.#path(h) }), (data, w) => ({
        help: w.help.map((x) => (x.id === h.id ? data : x)),
      }))
    const done = await this.#act(h, claim, m.help_taken)
    if (done) announce(h.place ? m.help_taken_at({ place: h.place }) : m.help_taken_of({ name: h.attendee_name }))
    return done
  }

  /** Puts a request back to its old place in the queue. */
  async putBack(h: HelpRequest): Promise<boolean> {
    const done = await this.#act(h, () => ask(api.POST('/codelabs/{id}/help/{help_id}/release', { params: this.#path(h) })))
    if (done) toast(m.help_back({ name: h.attendee_name }))
    return done
  }

  solved(h: HelpRequest): Promise<boolean> {
    return this.#act(h, () => ask(api.POST('/codelabs/{id}/help/{help_id}/resolve', { params: this.#path(h) })))
  }

  /** Puts a request back because the person was not found. */
  async notFound(h: HelpRequest): Promise<boolean> {
    const body = { reason: m.help_not_found_reason() }
    const done = await this.#act(h, () => ask(api.POST('/codelabs/{id}/help/{help_id}/release', { params: this.#path(h), body })))
    if (done) toast(m.help_back({ name: h.attendee_name }))
    return done
  }

  /**
   * Answers several requests with one message, which closes them. On failure it shows an error and
   * returns false.
   */
  async answer(chosen: readonly string[], message: string): Promise<boolean> {
    for (const id of chosen) this.#busy.add(id)
    try {
      await ask(api.POST('/codelabs/{id}/help/answer', { params: { path: { id: this.#room.id } }, body: { help_ids: [...chosen], message } }))
      toast(m.help_answered({ count: chosen.length }))
      return true
    } catch (e) {
      complain(words(e))
      return false
    } finally {
      for (const id of chosen) this.#busy.delete(id)
    }
  }

  #path(h: HelpRequest) {
    return { path: { id: this.#room.id, help_id: h.id } }
  }

  /**
   * Runs an action on a request. On failure it shows an error and returns false. tooLate returns
   * the message for status 409.
   */
  async #act(h: HelpRequest, work: () => Promise<unknown>, tooLate?: () => string): Promise<boolean> {
    this.#busy.add(h.id)
    try {
      await work()
      return true
    } catch (e) {
      complain(tooLate && e instanceof Refused && e.status === 409 ? tooLate() : words(e))
      return false
    } finally {
      this.#busy.delete(h.id)
    }
  }
}
