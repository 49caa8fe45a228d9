// The tasks that the attendee has ticked. Changes are stored on the device immediately, and sent
// through the outbox.
import { api, ask } from '../../api/client'
import { recall, remember } from '../../device/remember'
import type { Room } from '../../live/room.svelte'

/** The name of a task: its step's id, a space and its key. */
type Name = string

const nameOf = (step: string, item: string): Name => `${step} ${item}`

/** Changes by task. A change overrides the result of a read that began before the change. */
export type Told = ReadonlyMap<Name, boolean>

/** The ticked tasks after a read, with the changes during the read. */
export function merged(read: readonly { step_id: string; item: string }[], ...told: Told[]): Set<Name> {
  const out = new Set(read.map((t) => nameOf(t.step_id, t.item)))
  for (const all of told)
    for (const [name, done] of all) {
      if (done) out.add(name)
      else out.delete(name)
    }
  return out
}

export class Ticks {
  /** The ticked tasks. */
  done = $state.raw<ReadonlySet<Name>>(new Set())
  readonly #room: Room
  readonly #key: string
  /** The changes since the running read began, or null if no read is running. */
  #meanwhile: Map<Name, boolean> | null = null
  #again = false

  constructor(room: Room) {
    this.#room = room
    this.#key = `ticks:${room.id}`
    const kept = recall<{ me?: string; done?: Name[] }>(this.#key, {})
    this.done = merged([], new Map(kept.me === this.#me ? kept.done?.map((name) => [name, true]) : []), this.#waiting())
    room.onArrival((told) => {
      for (const m of told) {
        if (m.type === 'tick') this.#set(nameOf(m.step_id, m.item), m.done)
        // A thousand pages receive the change at the same moment, so each of them waits for a
        // random time.
        else if (m.type === 'steps_changed') setTimeout(() => void this.read(), 50 + Math.random() * 1500)
      }
    })
  }

  get #me() {
    return this.#room.now?.me
  }

  has(step: string, item: string): boolean {
    return this.done.has(nameOf(step, item))
  }

  /** Ticks or unticks a task. */
  tick(step: string, item: string, done: boolean): void {
    if (this.#room.say({ type: 'tick', step_id: step, item, done })) this.#set(nameOf(step, item), done)
  }

  /** Reads the ticks from the server. */
  async read(): Promise<void> {
    if (this.#meanwhile) {
      this.#again = true
      return
    }
    const told = (this.#meanwhile = new Map())
    try {
      const read = await ask(api.GET('/codelabs/{id}/ticks', { params: { path: { id: this.#room.id }, query: { as: 'attendee' } as never } }))
      this.#keep(merged(read, this.#waiting(), told))
    } catch {
      // The client is offline. The next connection triggers a read.
    }
    this.#meanwhile = null
    if (this.#again) {
      this.#again = false
      await this.read()
    }
  }

  /** The ticks that have not reached the server yet. */
  #waiting(): Told {
    const { outbox } = this.#room
    return new Map(
      outbox
        .filter((e) => e.message.type === 'tick')
        .map((e) => [nameOf(e.message['step_id'] as string, e.message['item'] as string), e.message['done'] === true]),
    )
  }

  #set(name: Name, done: boolean) {
    this.#meanwhile?.set(name, done)
    if (this.done.has(name) !== done) this.#keep(merged([], new Map([...this.done].map((n) => [n, true])), new Map([[name, done]])))
  }

  #keep(done: Set<Name>) {
    this.done = done
    remember(this.#key, { me: this.#me, done: [...done] })
  }
}

const rooms = new WeakMap<Room, Ticks>()

/** The ticks of a room, shared by all its pages. */
export function ticksOf(room: Room): Ticks {
  let ticks = rooms.get(room)
  if (!ticks) rooms.set(room, (ticks = new Ticks(room)))
  return ticks
}
