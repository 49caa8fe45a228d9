// A facilitator's actions on questions.
import { api, ask, askAt } from '../../api/client'
import type { Room } from '../../live/room.svelte'
import { m } from '../../messages/compiled/messages.js'
import { toast } from '../../parts/toasts.svelte'
import type { Question } from '../../workshop/state'
import { questionAnswered, questionRemoved, ranked, waitingCount } from '../questions'
import { Act } from '../../screens/live/act.svelte'

export class QuestionDesk {
  readonly room: Room
  readonly act = new Act()
  /** The ids of the questions that this facilitator has changed. */
  changed = $state.raw<ReadonlySet<string>>(new Set())
  readonly all = $derived.by<Question[]>(() => (this.room.now ? ranked(this.room.now.questions) : []))
  readonly waiting = $derived.by(() => (this.room.now ? waitingCount(this.room.now.questions) : 0))

  constructor(room: Room) {
    this.room = room
  }

  /** Publishes a question, or reopens it. */
  show(q: Question): Promise<boolean> {
    return this.#change(q, { state: 'open' })
  }

  hide(q: Question): Promise<boolean> {
    return this.#change(q, { state: 'hidden' })
  }

  answer(q: Question, answer: string): Promise<boolean> {
    return this.#change(q, { state: 'answered', answer })
  }

  /** Marks a question as answered aloud, without a written answer. */
  answeredAloud(q: Question): Promise<boolean> {
    return this.#change(q, { state: 'answered' })
  }

  /** Merges a question into another one, which receives its votes. */
  async merge(q: Question, into: Question): Promise<boolean> {
    const stays = await this.act.run(q.id, () =>
      askAt(api.POST('/codelabs/{id}/questions/{question_id}/merge', { params: this.#path(q), body: { into: into.id } })),
    )
    if (!stays) return false
    this.room.assume((w) => ({ questions: questionAnswered(questionRemoved(w.questions, q.id), stays.data, stays.at) }))
    toast(m.question_merged())
    return true
  }

  /** Prevents the author of an anonymous question from asking more until the workshop ends. */
  async stop(q: Question): Promise<boolean> {
    const done = await this.act.run(q.id, () => ask(api.POST('/codelabs/{id}/questions/{question_id}/stop', { params: this.#path(q) })))
    if (done) toast(m.question_stopped())
    return done !== null
  }

  async remove(q: Question): Promise<boolean> {
    const done = await this.act.run(q.id, async () => {
      await ask(api.DELETE('/codelabs/{id}/questions/{question_id}', { params: this.#path(q) }))
      return true
    })
    if (done) this.room.assume((w) => ({ questions: questionRemoved(w.questions, q.id) }))
    return done === true
  }

  /** Turns a chat message into a question by its author. */
  async fromChat(id: string): Promise<boolean> {
    return this.#taken(id, { chat_id: id })
  }

  /** Turns a request for help into an anonymous, rephrased question. */
  async fromHelp(id: string, text: string): Promise<boolean> {
    return this.#taken(id, { help_id: id, text })
  }

  async #taken(what: string, body: { chat_id: string } | { help_id: string; text: string }): Promise<boolean> {
    const made = await this.act.run(what, () => askAt(api.POST('/codelabs/{id}/questions/from', { params: { path: { id: this.room.id } }, body })))
    if (!made) return false
    this.room.assume((w) => ({ questions: questionAnswered(w.questions, made.data, made.at) }))
    toast(m.question_taken())
    return true
  }

  async #change(q: Question, body: { state?: Question['state']; answer?: string }): Promise<boolean> {
    const now = await this.act.run(q.id, () => askAt(api.PUT('/codelabs/{id}/questions/{question_id}', { params: this.#path(q), body })))
    if (!now) return false
    this.changed = new Set(this.changed).add(q.id)
    this.room.assume((w) => ({ questions: questionAnswered(w.questions, now.data, now.at) }))
    return true
  }

  #path(q: Question) {
    return { path: { id: this.room.id, question_id: q.id } }
  }
}
