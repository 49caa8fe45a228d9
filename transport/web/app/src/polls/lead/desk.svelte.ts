// The actions of a facilitator on polls.
import { api, ask, askAt } from '../../api/client'
import type { Room } from '../../live/room.svelte'
import { m } from '../../messages/compiled/messages.js'
import { draftsOf, openPoll, orderedPolls, pollAnswered } from '../polls'
import type { Poll, PollDraft } from '../../workshop/state'
import { Act } from '../../screens/live/act.svelte'

export class PollDesk {
  readonly room: Room
  readonly act = new Act()
  /** Ids of drafts whose offer the facilitator has declined. */
  #declined = $state.raw<ReadonlySet<string>>(new Set())

  readonly all = $derived.by<Poll[]>(() => (this.room.now ? orderedPolls(this.room.now.polls) : []))
  readonly open = $derived.by<Poll | null>(() => (this.room.now ? openPoll(this.room.now.polls) : null))

  /** The first draft of the pointer's step that was not declined, or null while a poll is open. */
  readonly offered = $derived.by<Poll | null>(() => {
    const w = this.room.now
    const at = w?.codelab.pointer?.step_number ?? null
    const step = at === null ? undefined : w?.steps[at - 1]
    if (!w || !step || this.open) return null
    return draftsOf(w.polls, step.id).find((p) => !this.#declined.has(p.id)) ?? null
  })

  constructor(room: Room) {
    this.room = room
  }

  decline(poll: Poll): void {
    this.#declined = new Set(this.#declined).add(poll.id)
  }

  /** Creates a draft. */
  create(draft: PollDraft | { quiz_id: string }): Promise<Poll | null> {
    return this.#take('new', () => askAt(api.POST('/codelabs/{id}/polls', { params: { path: { id: this.room.id } }, body: draft })))
  }

  change(poll: Poll, draft: PollDraft): Promise<Poll | null> {
    return this.#take(poll.id, () => askAt(api.PUT('/codelabs/{id}/polls/{poll_id}', { params: this.#path(poll), body: draft })))
  }

  /**
   * Opens a poll, and closes the open poll if there is one. If seconds is set, the poll closes
   * automatically after that time.
   */
  begin(poll: Poll, seconds: number | null = null): Promise<Poll | null> {
    const body = seconds === null ? {} : { seconds }
    return this.#take(poll.id, () => askAt(api.POST('/codelabs/{id}/polls/{poll_id}/open', { params: this.#path(poll), body })))
  }

  close(poll: Poll): Promise<Poll | null> {
    return this.#take(poll.id, () => askAt(api.POST('/codelabs/{id}/polls/{poll_id}/close', { params: this.#path(poll) })))
  }

  show(poll: Poll, shown: boolean): Promise<Poll | null> {
    return this.#take(poll.id, () => askAt(api.POST('/codelabs/{id}/polls/{poll_id}/show', { params: this.#path(poll), body: { shown } })))
  }

  reset(poll: Poll): Promise<Poll | null> {
    return this.#take(poll.id, () => askAt(api.POST('/codelabs/{id}/polls/{poll_id}/reset', { params: this.#path(poll) })))
  }

  async remove(poll: Poll): Promise<boolean> {
    const done = await this.act.run(poll.id, async () => {
      await ask(api.DELETE('/codelabs/{id}/polls/{poll_id}', { params: this.#path(poll) }))
      return true
    })
    return done === true
  }

  /** Creates a minute card, an anonymous poll with two boxes, and opens it. */
  async minuteCard(): Promise<void> {
    const options = [m.poll_minute_learned(), m.poll_minute_unclear()]
    const card = await this.create({ kind: 'text', question: m.poll_minute(), options, anonymous: true })
    if (card) await this.begin(card)
  }

  async #take(what: string, work: () => Promise<{ data: Poll; at: number | null }>): Promise<Poll | null> {
    const answer = await this.act.run(what, work)
    if (!answer) return null
    this.room.assume((w) => ({ polls: pollAnswered(w.polls, answer.data, answer.at) }))
    return answer.data
  }

  #path(poll: Poll) {
    return { path: { id: this.room.id, poll_id: poll.id } }
  }
}
