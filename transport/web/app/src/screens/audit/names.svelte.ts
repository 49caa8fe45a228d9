// Names for the ids in the audit trail: facilitators, and attendees of codelabs with a short
// attendee list. Removed people no longer have a name.
import { api, ask, type Schemas } from '../../api/client'
import type { Entry } from './filter'

/** The maximum length of an attendee list that is read for the names. */
const most = 1000

export class Names {
  #all = $state.raw<ReadonlyMap<string, string>>(new Map())
  #labs: ReadonlyMap<string, Schemas['Codelab']> = new Map()
  #asked = new Set<string>()

  of = (id: string | null): string | undefined => (id === null ? undefined : this.#all.get(id))

  /** Loads the facilitators' names and the person's own. */
  async leaders(): Promise<void> {
    const [people, me] = await Promise.allSettled([ask(api.GET('/admin/people')), ask(api.GET('/account'))])
    if (people.status === 'fulfilled') this.#add(people.value)
    if (me.status === 'fulfilled') this.#add([me.value])
  }

  /** Loads the attendees of the records' codelabs, each list once. */
  async learn(records: readonly Entry[], labs: ReadonlyMap<string, Schemas['Codelab']> = this.#labs): Promise<void> {
    this.#labs = labs
    const wanted = new Set(records.map((r) => r.codelab_id).filter((id) => id !== null && !this.#asked.has(id)))
    for (const id of wanted as Set<string>) {
      const lab = labs.get(id)
      if (!lab || (lab.attendees ?? 0) > most) continue
      this.#asked.add(id)
      try {
        this.#add(await ask(api.GET('/codelabs/{id}/attendees', { params: { path: { id } } })))
      } catch {
        // The page shows the ids instead.
      }
    }
  }

  #add(people: readonly { id: string; name: string }[]): void {
    this.#all = new Map([...this.#all, ...people.filter((p) => p.name !== '').map((p) => [p.id, p.name] as const)])
  }
}
