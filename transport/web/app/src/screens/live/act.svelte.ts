// Runs a facilitator's request, shows that it is running, and reports a failure.
import { words } from '../../api/words'
import { complain } from '../../parts/toasts.svelte'

export class Act {
  /** The object of the running action, as an id or another key chosen by the caller. */
  busy = $state<string | null>(null)
  /** The objects of the running action and of the waiting actions. */
  readonly #asked = new Set<string>()
  #last: Promise<unknown> = Promise.resolve()

  /**
   * Runs the work and returns its result. On failure it shows an error and returns null. Actions on
   * different objects run in the order of the calls. While an action runs or waits, a second one on
   * the same object has no effect.
   */
  async run<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    if (this.#asked.has(what)) return null
    this.#asked.add(what)
    const before = this.#asked.size > 1 ? this.#last : null
    const done = this.#run(what, before, work)
    this.#last = done
    return done
  }

  async #run<T>(what: string, before: Promise<unknown> | null, work: () => Promise<T>): Promise<T | null> {
    if (before) await before
    this.busy = what
    try {
      return await work()
    } catch (e) {
      complain(words(e))
      return null
    } finally {
      this.busy = null
      this.#asked.delete(what)
    }
  }
}
