// An author's work on a codelab: the server's version, the unsaved changes, saving, and conflicts
// with other authors.
import { SvelteSet } from 'svelte/reactivity'
import { api, ask, asked, type Schemas } from '../../api/client'
import { Refused } from '../../api/refused'
import { words } from '../../api/words'
import { keeper, recallDraft } from '../../device/drafts'
import { Leftover, type Left } from '../../device/leftover.svelte'
import { noteTime } from '../../device/now'
import { Connection } from '../../live/connection'
import { events } from '../../live/events'
import { socket } from '../../live/socket'
import { onWake } from '../../live/wake'
import { m } from '../../messages/compiled/messages.js'
import { complain, toast } from '../../parts/toasts.svelte'
import { touched, type Touched } from './comments'
import { differences, resolved, type Choices, type Difference } from './merge'
import { revision, fromServer, guide, learned, problem, same, sameSteps, toServer, type Problem, type Script } from './script'

interface Read {
  codelab: Schemas['Codelab']
  script: Script
  tag: string
}

/** Unsaved work, and the version on which it is based. */
interface Work {
  draft: Script
  base: Script
  tag: string
}

export interface Conflict {
  read: Read
  differences: readonly Difference[]
}

const empty: Script = { steps: [], guide: '' }

export class Authoring {
  readonly id: string
  codelab = $state.raw<Schemas['Codelab'] | null>(null)
  base = $state.raw<Script>(empty)
  draft = $state.raw<Script>(empty)
  /** The id of the open step, or the constant guide. */
  chosen = $state('')
  /** The error of a failed load, or the notice that the codelab was deleted. */
  refused = $state<string | null>(null)
  /** The error of a failed save. */
  error = $state<string | null>(null)
  saving = $state(false)
  savedAt = $state<string | null>(null)
  /** Unsaved work of an earlier visit. */
  readonly left = new Leftover<Work>()
  /** The comments that a save would affect, while the save waits for confirmation. */
  asking = $state.raw<readonly Touched[] | null>(null)
  /**
   * New steps without a title. The missing title is not shown as an error until somebody leaves the
   * field or saves.
   */
  readonly notYetTitled = new SvelteSet<string>()
  /** The conflicting version that somebody else has saved. */
  elsewhere = $state.raw<Conflict | null>(null)
  /** Whether the conflict is visible. */
  deciding = $state(false)
  /** Whether to look again after this save, because somebody else may have saved meanwhile. */
  #lookAgain = false
  #tag = ''
  /** Whether the page was left. */
  #left = false
  #keeper: ReturnType<typeof keeper>
  #connection: Connection

  constructor(id: string) {
    this.id = id
    this.#keeper = keeper<Left<Work>>(`edit:${id}`, () => this.left.keep(this.#work()))
    this.#connection = new Connection(
      { codelab: id, as: 'admin' },
      { socket, events },
      {
        status: () => {},
        told: (all) => {
          if (all.some((t) => t.type === 'steps_changed' || t.type === 'codelab_changed')) void this.look()
          if (all.some((t) => t.type === 'codelab_deleted')) this.refused = m.edit_deleted()
        },
        fresh: async () => void (this.codelab && (await this.look())),
        settled: () => {},
        blocked: () => {},
        ready: () => {},
        time: noteTime,
      },
    )
  }

  readonly dirty = $derived(this.codelab !== null && !same(this.base, this.draft))
  readonly problem = $derived<Problem | null>(this.dirty ? problem(this.base, this.draft) : null)
  readonly step = $derived(this.draft.steps.find((s) => s.id === this.chosen) ?? null)
  readonly text = $derived(this.chosen === guide ? this.draft.guide : (this.step?.text ?? ''))

  begin(): () => void {
    void this.#open()
    const asleep = onWake(() => this.#connection.hurry())
    return () => {
      asleep()
      this.#left = true
      this.#keeper.stop()
      this.#connection.stop()
    }
  }

  async #open(): Promise<void> {
    try {
      const read = await this.#read()
      const kept = await recallDraft<Left<Work>>(`edit:${this.id}`)
      this.#take(read)
      // The stored work is not offered if another tab has already saved it.
      this.left.found(kept, (work) => same(work.draft, read.script))
      this.chosen = this.draft.steps[0]?.id ?? ''
      if (!this.#left) this.#connection.start()
    } catch (e) {
      this.refused = words(e)
    }
  }

  async #read(): Promise<Read> {
    const { data, response } = await asked(api.GET('/codelabs/{id}', { params: { path: { id: this.id }, query: { as: 'admin' } as never } }))
    const [codelab, steps] = data as unknown as [Schemas['Codelab'], Schemas['Step'][]]
    return { codelab, script: fromServer(codelab, steps), tag: response.headers.get('ETag') ?? '' }
  }

  #take(read: Read) {
    this.codelab = read.codelab
    // Steps keep their ids within the page, so that the open step stays open, even if it was
    // created on this page.
    const ids = new Map(this.draft.steps.map((s) => [s.server, s.id]))
    this.base = this.draft = { ...read.script, steps: read.script.steps.map((s) => ({ ...s, id: ids.get(s.server) ?? s.id })) }
    this.#tag = read.tag
    this.elsewhere = null
    if (this.chosen !== guide && !this.step) this.chosen = this.draft.steps[0]?.id ?? ''
  }

  #work(): Work | undefined {
    return this.dirty ? { draft: this.draft, base: this.base, tag: this.#tag } : undefined
  }

  /** Continues with unsaved changes. */
  takeLeft(): void {
    const work = this.left.take(this.#work())
    if (!work) return
    this.elsewhere = null
    this.base = work.base
    this.#tag = work.tag
    this.change(work.draft)
    if (this.chosen !== guide && !this.step) this.chosen = this.draft.steps[0]?.id ?? ''
    void this.look() // other people may have saved meanwhile
  }

  /** Called when the work to store on the device has changed. */
  keep(): void {
    this.#keeper.later()
  }

  change(draft: Script): void {
    this.draft = draft
    this.error = null
    this.#keeper.later()
  }

  /** Checks whether somebody else has saved. */
  async look(): Promise<void> {
    if (this.saving) {
      this.#lookAgain = true
      return
    }
    try {
      const read = await this.#read()
      if (this.saving) this.#lookAgain = true
      if (this.saving || revision(read.tag) === revision(this.#tag)) return
      const clean = !this.dirty
      if (same(read.script, this.base) || clean) {
        const other = !same(read.script, this.base)
        if (clean) this.#take(read)
        if (other) toast(m.edit_renewed())
        this.codelab = read.codelab
        this.#tag = read.tag
      } else this.#meet(read)
    } catch {
      // The device is offline. The next save detects other versions.
    }
  }

  #meet(read: Read) {
    const all = differences(this.base, this.draft, read.script)
    if (all.length > 0) {
      this.elsewhere = { read, differences: all }
      return
    }
    // The other person made the same changes, so nothing must be merged.
    this.#take(read)
    this.#keeper.later()
  }

  /** Saves. sure means that the author has confirmed the effect on comments. */
  async save(sure = false): Promise<void> {
    if (this.saving || !this.dirty) return
    this.error = null
    if (this.elsewhere) {
      this.decide()
      return
    }
    this.notYetTitled.clear()
    if (this.problem) {
      if (this.problem.at !== null) this.chosen = this.problem.at
      return
    }
    this.saving = true
    try {
      if (!sure) {
        const threads = await ask(api.GET('/codelabs/{id}/inline-comments', { params: { path: { id: this.id }, query: { as: 'admin' } as never } }))
        const all = touched(this.base, this.draft, threads)
        if (all.length > 0) {
          this.asking = all
          return
        }
      }
      this.asking = null
      await this.#send()
    } catch (e) {
      this.asking = null
      this.error = words(e)
    } finally {
      this.saving = false
      if (this.#lookAgain) {
        this.#lookAgain = false
        void this.look()
      }
    }
  }

  async #send(again = false): Promise<void> {
    const sent = this.draft
    const path = { id: this.id }
    try {
      if (!sameSteps(sent, this.base)) {
        const { response } = await asked(
          api.PUT('/codelabs/{id}/steps', { params: { path, header: { 'If-Match': this.#tag } as never }, body: { steps: toServer(sent) } }),
        )
        this.#tag = response.headers.get('ETag') ?? this.#tag
        this.base = { ...this.base, steps: sent.steps }
      }
      if (sent.guide !== this.base.guide) {
        const { response } = await asked(
          api.PUT('/codelabs/{id}', { params: { path, header: { 'If-Match': this.#tag } as never }, body: { guide_markdown: sent.guide } }),
        )
        this.#tag = response.headers.get('ETag') ?? this.#tag
        this.base = { ...this.base, guide: sent.guide }
      }
    } catch (e) {
      if (!(e instanceof Refused) || e.status !== 412) throw e
      const read = await this.#read()
      if (same(read.script, this.base) && !again) {
        // The other person has changed only settings, so the save is repeated.
        this.codelab = read.codelab
        this.#tag = read.tag
        return this.#send(true)
      }
      this.#meet(read)
      if (this.elsewhere) this.decide()
      return
    }
    this.savedAt = new Date().toISOString()
    this.#keeper.later()
    await this.#learn(sent)
  }

  /** Takes over the ids that the server assigned to new steps. */
  async #learn(sent: Script): Promise<void> {
    try {
      const read = await this.#read()
      this.draft = learned(this.draft, sent, read.script)
      this.base = learned(this.base, sent, read.script)
      this.codelab = read.codelab
      if (revision(read.tag) !== revision(this.#tag)) this.#lookAgain = true
      else this.#tag = read.tag
      this.#keeper.later()
    } catch (e) {
      complain(words(e))
    }
  }

  /** Shows the two versions, unless they no longer differ. */
  decide(): void {
    if (!this.elsewhere) return
    const { read } = this.elsewhere
    this.#meet(read)
    this.deciding = this.elsewhere !== null
  }

  /**
   * Merges the two versions according to the author's choices. The result is saved like any
   * change.
   */
  async settle(choices: Choices): Promise<void> {
    const conflict = this.elsewhere
    if (!conflict) return
    const { read } = conflict
    const script = resolved(this.draft, read.script, conflict.differences, choices)
    this.codelab = read.codelab
    this.base = read.script
    this.#tag = read.tag
    this.elsewhere = null
    this.deciding = false
    this.change(script)
    if (this.chosen !== guide && !this.step) this.chosen = script.steps[0]?.id ?? ''
    await this.save()
  }
}
