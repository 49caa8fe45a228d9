// An attendee's own request for help. The attendee asks for help, sees the place in the queue, and
// can close the request.
import { api, ask, askAt } from '../../api/client'
import { inOrder } from '../../api/order'
import { words } from '../../api/words'
import type { Room } from '../../live/room.svelte'
import { complain, toast } from '../../parts/toasts.svelte'
import { m } from '../../messages/compiled/messages.js'
import type { HelpRequest } from '../../workshop/state'

/** The interval at which the place in the queue is read, in milliseconds. */
const every = 20_000

const query = { as: 'attendee' } as never

export class OwnHelp {
  readonly #room: Room
  /** The request with its place in the queue and the wait, from the last read. null without one. */
  queue = $state.raw<HelpRequest | null>(null)
  readonly #begin = inOrder()
  /** The open request, or null. */
  readonly request = $derived.by<HelpRequest | null>(() => this.#room.now?.help.find((h) => h.attendee_id === this.#room.now?.me) ?? null)
  /** The attendee's place in the room, or empty if they have not entered it. */
  readonly place = $derived.by(() => this.#room.now?.people.get(this.#room.now.me)?.place ?? '')
  /** Whether the request has not been claimed yet. */
  readonly waiting = $derived.by(() => this.request?.status === 'pending')
  /** The name of the person who has claimed the request, or null if nobody has. */
  readonly helper = $derived.by(() => (this.request?.status === 'in_progress' ? this.request.claimed_by : null))
  /** The requests that the attendee has closed. */
  readonly #closed = new Set<string>()

  constructor(room: Room) {
    this.#room = room
  }

  /** Whether the attendee, not a facilitator, closed a request. */
  closed(id: string): boolean {
    return this.#closed.has(id)
  }

  /**
   * Asks for help at a step, or changes the request. Shows an error and returns false on failure.
   */
  async ask(step: number, message: string): Promise<boolean> {
    const text = message.trim()
    try {
      await ask(
        api.POST('/codelabs/{id}/help', {
          params: { path: { id: this.#room.id }, query },
          body: { step_number: step, ...(text ? { message: text } : {}) },
        }),
      )
      await this.read().catch(() => {}) // help was requested, even if the request cannot be shown yet
      return true
    } catch (e) {
      complain(words(e))
      return false
    }
  }

  /** Stores where the attendee sits. On failure it shows an error and returns false. */
  async sit(place: string): Promise<boolean> {
    const me = this.#room.now?.me ?? ''
    const path = { id: this.#room.id, attendee_id: me }
    try {
      const call = api.PUT('/codelabs/{id}/attendees/{attendee_id}', { params: { path, query }, body: { place: place.trim() } })
      await this.#room.request(call, (own, w) => ({ people: new Map(w.people).set(me, own) }))
      return true
    } catch (e) {
      complain(words(e))
      return false
    }
  }

  /** Reads the request and its place in the queue. */
  read(): Promise<void> {
    const isUsed = this.#begin()
    return this.#room.find(async () => {
      const { data, at } = await askAt(api.GET('/codelabs/{id}/help', { params: { path: { id: this.#room.id }, query } }))
      const me = this.#room.now?.me
      const mine = data.find((h) => h.attendee_id === me && h.status !== 'resolved') ?? null
      if (isUsed()) this.queue = mine
      return { part: (w) => ({ help: [...w.help.filter((h) => h.attendee_id !== me), ...(mine ? [mine] : [])] }), at }
    })
  }

  /**
   * Polls until the returned function is called. Polling is needed because only the attendee who is
   * helped receives a message; the places of the others change silently.
   */
  poll(): () => void {
    const read = () => void this.read().catch(() => {})
    read()
    const timer = setInterval(read, every)
    return () => clearInterval(timer)
  }

  /** Closes the request, because the attendee no longer needs help. */
  async solved(): Promise<void> {
    const help = this.request
    if (!help) return
    this.#closed.add(help.id)
    try {
      await ask(api.POST('/codelabs/{id}/help/{help_id}/resolve', { params: { path: { id: this.#room.id, help_id: help.id }, query } }))
      this.#room.assume((w) => ({ help: w.help.filter((h) => h.id !== help.id) }))
      this.queue = null
      toast(m.help_closed())
    } catch (e) {
      this.#closed.delete(help.id)
      complain(words(e))
    }
  }
}
