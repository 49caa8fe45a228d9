// The shared code of a codelab, for one attendee.
import { api, ask, type Schemas } from '../../api/client'
import { Refused } from '../../api/refused'
import { words } from '../../api/words'
import { Browse } from '../../code/browse.svelte'
import { complain } from '../../parts/toasts.svelte'
import { statesOf } from './states'

/** Milliseconds within which the browsers of a room read again what is shared. */
const spread = 1000

export class SharedCode extends Browse {
  readonly states = $derived(statesOf(this.heads))
  /** What Git needs; held by this page alone. */
  access = $state.raw<Schemas['GitAccess'] | null>(null)
  getting = $state(false)
  #looked = false

  constructor(id: string) {
    super(id, 'attendee')
  }

  /** Reads soon what is shared now; the answer takes it back. */
  soon(): () => void {
    // A whole room receives the pointer at the same moment.
    const soon = setTimeout(() => void this.look(), this.#looked ? Math.random() * spread : 0)
    return () => clearTimeout(soon)
  }

  async look(): Promise<void> {
    this.#looked = true
    try {
      await this.readHeads()
    } catch (e) {
      // Offline one keeps what is known; the next look reads it.
      if (e instanceof Refused && (e.status === 403 || e.status === 404)) this.info = null
    }
  }

  /** Opens a state to look at its files. */
  async open(name: string): Promise<void> {
    this.head = name
    this.path = null
    this.read = null
    this.infos = null
    this.error = null
    await this.list()
    await this.showOnly()
  }

  override show(path: string | null): Promise<void> {
    this.error = null
    return super.show(path)
  }

  /** Where a state can be downloaded. */
  zip(name: string): string {
    return `/api/codeserver/${this.id}/download?${this.branches ? 'branch' : 'folder'}=${encodeURIComponent(name)}&format=zip&as=attendee`
  }

  async useGit(): Promise<void> {
    if (this.getting) return
    this.getting = true
    try {
      this.access = await ask(api.POST('/codelabs/{id}/git-access', { params: { path: { id: this.id }, query: { as: 'attendee' } as never } }))
    } catch (e) {
      complain(words(e))
    }
    this.getting = false
  }
}
