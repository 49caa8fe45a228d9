// An attendee's actions on questions: ask, vote, delete.
import { api, ask, askAt } from '../../api/client'
import { words } from '../../api/words'
import type { Room } from '../../live/room.svelte'
import { complain } from '../../parts/toasts.svelte'
import type { Question } from '../../workshop/state'
import { questionAnswered, questionRemoved } from '../questions'

const query = { as: 'attendee' } as never

export class OwnQuestions {
  readonly #room: Room
  /** Whether a question is being sent. */
  asking = $state(false)
  /** The ids of the questions whose votes are being sent. */
  readonly #voting = new Set<string>()

  constructor(room: Room) {
    this.#room = room
  }

  /** Asks a question. On failure it shows an error and returns false. */
  async ask(text: string, anonymous: boolean, step: string | null): Promise<boolean> {
    if (this.asking) return false
    this.asking = true
    const body = { text, anonymous, ...(step === null ? {} : { step_id: step }) }
    try {
      this.#take(await askAt(api.POST('/codelabs/{id}/questions', { params: { path: { id: this.#room.id }, query }, body })))
      return true
    } catch (e) {
      complain(words(e))
      return false
    } finally {
      this.asking = false
    }
  }

  /**
   * Votes for a question, or removes the vote. The change is shown immediately. On failure it is
   * reverted and an error is shown.
   */
  async vote(q: Question): Promise<void> {
    if (this.#voting.has(q.id)) return
    this.#voting.add(q.id)
    const voted = !q.voted
    this.#count(q.id, voted)
    const params = { path: { id: this.#room.id, question_id: q.id }, query }
    try {
      const call = voted
        ? api.PUT('/codelabs/{id}/questions/{question_id}/vote', { params })
        : api.DELETE('/codelabs/{id}/questions/{question_id}/vote', { params })
      this.#take(await askAt(call))
    } catch (e) {
      this.#count(q.id, !voted)
      complain(words(e))
    } finally {
      this.#voting.delete(q.id)
    }
  }

  /** Deletes a question. On failure it shows an error and returns false. */
  async remove(q: Question): Promise<boolean> {
    try {
      await ask(api.DELETE('/codelabs/{id}/questions/{question_id}', { params: { path: { id: this.#room.id, question_id: q.id }, query } }))
      this.#room.assume((w) => ({ questions: questionRemoved(w.questions, q.id) }))
      return true
    } catch (e) {
      complain(words(e))
      return false
    }
  }

  #take({ data, at }: { data: Question; at: number | null }) {
    this.#room.assume((w) => ({ questions: questionAnswered(w.questions, data, at) }))
  }

  #count(id: string, voted: boolean) {
    this.#room.assume((w) => {
      const q = w.questions.byId.get(id)
      if (!q || q.voted === voted) return {}
      return { questions: questionAnswered(w.questions, { ...q, voted, votes: Math.max(0, q.votes + (voted ? 1 : -1)) }, null) }
    })
  }
}
