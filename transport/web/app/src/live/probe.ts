import { api, ask } from '../api/client'
import { Refused } from '../api/refused'
import type { Role } from './reads.svelte'

/**
 * Checks whether the session has ended. This is necessary because a WebSocket that fails to open
 * gives no reason.
 */
export class Probe {
  readonly #codelab: string
  readonly #role: Role
  readonly #over: () => void
  #asking = false

  /** over is called if the session has ended or belongs to another role. */
  constructor(codelab: string, role: Role, over: () => void) {
    this.#codelab = codelab
    this.#role = role
    this.#over = over
  }

  /**
   * Reads the session. A call while a request is running has no effect. Only status 401 or another
   * role means that the session has ended.
   */
  async look(): Promise<void> {
    if (this.#asking) return
    this.#asking = true
    try {
      const session = await ask(api.GET('/session', { params: { query: this.#role === 'attendee' ? { codelab_id: this.#codelab } : {} } }))
      if (session.role !== this.#role) this.#over()
    } catch (e) {
      if (e instanceof Refused && e.status === 401) this.#over()
    } finally {
      this.#asking = false
    }
  }
}
