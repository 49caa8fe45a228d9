// The steps and answers of one person. No message of the stream contains them, so they are read
// when the person is opened, when the person moves, and together with the room's times.
import { api, ask, type Schemas } from '../../../api/client'

export class Details {
  #read = $state.raw<{ id: string; record: Schemas['Attendee'] } | null>(null)
  readonly #codelab: string
  readonly #id: () => string
  #turn = 0

  constructor(codelab: string, id: () => string) {
    this.#codelab = codelab
    this.#id = id
  }

  /** The record of the shown person, or null until it has been read. */
  readonly now = $derived.by(() => (this.#read?.id === this.#id() ? this.#read.record : null))

  async read(): Promise<void> {
    const id = this.#id()
    const turn = ++this.#turn
    try {
      const params = { path: { id: this.#codelab, attendee_id: id }, query: { details: true } }
      const record = await ask(api.GET('/codelabs/{id}/attendees/{attendee_id}', { params }))
      if (turn === this.#turn) this.#read = { id, record }
    } catch {
      // The next update retries.
    }
  }
}
