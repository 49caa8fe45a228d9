// The polls as an attendee sees them: the open poll, their own vote, and the results published
// while they are present.
import { api, askAt } from '../../api/client'
import { words } from '../../api/words'
import { remember } from '../../device/remember'
import type { Room } from '../../live/room.svelte'
import type { Told } from '../../live/protocol'
import { m } from '../../messages/compiled/messages.js'
import { announce } from '../../parts/announcer.svelte'
import { complain } from '../../parts/toasts.svelte'
import { openPoll, orderedPolls, pollAnswered } from '../polls'
import type { Poll, Vote } from '../../workshop/state'

const query = { as: 'attendee' } as never
const roundOf = (p: Poll) => `${p.id}:${p.round}`

export class OwnPolls {
  readonly #room: Room
  /** Whether a vote is being sent. */
  busy = $state(false)
  /** The id of the last poll whose results arrived while the attendee was present, or null. */
  #showing = $state<string | null>(null)
  /** The round that the attendee has folded. */
  #folded = $state<string | null>(null)
  /** The last announcement of each poll. */
  readonly #said = new Map<string, string>()

  /** The open poll, or the poll with the latest published results until they are dismissed. */
  readonly poll = $derived.by<Poll | null>(() => {
    const polls = this.#room.now?.polls
    if (!polls) return null
    const open = openPoll(polls)
    if (open) return open
    const last = this.#showing === null ? undefined : polls.byId.get(this.#showing)
    return last?.shown ? last : null
  })

  readonly folded = $derived.by(() => this.poll !== null && this.#folded === roundOf(this.poll))

  /** Closed polls with published results, latest first. */
  readonly past = $derived.by<Poll[]>(() => (this.#room.now ? orderedPolls(this.#room.now.polls).filter((p) => p.state === 'closed' && p.shown) : []))

  constructor(room: Room) {
    this.#room = room
  }

  /** The storage key for a started ballot. */
  get draft(): string {
    return `draft:ballot:${this.#room.id}`
  }

  /** Deletes the started ballot. */
  drop(): void {
    remember(this.draft, undefined)
  }

  /**
   * Handles arrived messages. Announces each change of a poll once to screen readers, and shows
   * results that were published for a closed poll.
   */
  heard(told: readonly Told[]): void {
    for (const t of told) {
      if (t.type !== 'poll_changed') continue
      const now = this.#room.now?.polls.byId.get(t.poll_id)
      const before = this.#said.get(t.poll_id)
      if (now?.shown && now.state === 'closed') this.#showing = now.id
      const is = !now ? 'over' : now.state === 'open' ? (now.shown ? `shown ${now.round}` : `open ${now.round}`) : now.shown ? `shown ${now.round}` : 'over'
      this.#said.set(t.poll_id, is)
      if (is === before) continue
      if (is.startsWith('shown')) announce(m.poll_heard_shown({ question: now!.question }))
      else if (is.startsWith('open')) announce(m.poll_heard({ question: now!.question }))
      else if (before?.startsWith('open')) announce(m.poll_heard_closed())
    }
  }

  /** Announces a poll that was already open when the attendee arrived. */
  arrived(poll: Poll): void {
    if (this.#said.has(poll.id)) return
    this.#said.set(poll.id, poll.shown ? `shown ${poll.round}` : `open ${poll.round}`)
    announce(m.poll_heard({ question: poll.question }))
  }

  fold(on: boolean): void {
    this.#folded = on && this.poll ? roundOf(this.poll) : null
  }

  putAway(): void {
    this.#showing = null
  }

  /** Votes, or changes the vote. On failure it shows an error and returns false. */
  async vote(poll: Poll, vote: Vote): Promise<boolean> {
    const body = { round: poll.round, ...vote }
    const given = await this.#act(poll, (path) => askAt(api.PUT('/codelabs/{id}/polls/{poll_id}/vote', { params: { path, query }, body })))
    if (given) this.drop()
    return given
  }

  takeBack(poll: Poll): Promise<boolean> {
    return this.#act(poll, (path) => askAt(api.DELETE('/codelabs/{id}/polls/{poll_id}/vote', { params: { path, query } })))
  }

  async #act(poll: Poll, work: (path: { id: string; poll_id: string }) => Promise<{ data: Poll; at: number | null }>): Promise<boolean> {
    if (this.busy) return false
    this.busy = true
    try {
      const { data, at } = await work({ id: this.#room.id, poll_id: poll.id })
      this.#room.assume((w) => ({ polls: pollAnswered(w.polls, data, at) }))
      return true
    } catch (e) {
      complain(words(e))
      // The server may have stored the vote although the response was lost.
      void this.#room.read('polls').catch(() => {})
      return false
    } finally {
      this.busy = false
    }
  }
}
