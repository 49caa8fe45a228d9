// Runs a facilitator's request, shows that it is running, and reports a failure.
import { words } from '../../api/words'
import { complain } from '../../parts/toasts.svelte'

export class Act {
  /** The object of the running action, as an id or another key chosen by the caller. */
  busy = $state<string | null>(null)

  /** Runs the work and returns its result. On failure it shows an error and returns null. */
  async run<T>(what: string, work: () => Promise<T>): Promise<T | null> {
    if (this.busy !== null) return null
    this.busy = what
    try {
      return await work()
    } catch (e) {
      complain(words(e))
      return null
    } finally {
      this.busy = null
    }
  }
}
