// The messages of a person that the server has not yet acknowledged. They are stored on
// the device, so that neither a lost network nor a closed tab loses one. Each has a
// reference, so that the server stores none twice.

import { keeps } from '../device/remember'

export interface Kept {
  ref: string
  /** The message as it is sent, with its ref. */
  message: { type: string; [key: string]: unknown }
  /** When it was said, Unix milliseconds. */
  at: number
  /** When it was first sent, in the server's time, or null. */
  sent: number | null
  /** Why the server refused it; it then waits for the person. */
  refused: string | null
}

/** Where an outbox is kept: the device's storage, or a Map in tests. */
export interface Storage {
  get(key: string): string | null
  set(key: string, value: string): void
  remove(key: string): void
  keys(): string[]
  /** Calls f when another tab of this device has changed something. */
  watch(f: (key: string) => void): void
}

/** The server keeps a ref for ten minutes. Older ones are looked up instead. */
const refLife = 9 * 60_000
/** More is not kept: nobody writes so much offline. */
const most = 200

/** Of these only the last matters: where one is, how it goes, and whether a task is done. */
const states = new Set(['step_progress', 'pulse', 'pointer', 'tick'])

const sameState = (a: Kept['message'], b: Kept['message']) => a.type === b.type && a['step_id'] === b['step_id'] && a['item'] === b['item']

export class Outbox {
  #prefix: string
  #storage: Storage
  #entries: Kept[] = []
  #changed: (entries: readonly Kept[]) => void

  /**
   * owner names the codelab and the person; entries of this device that an
   * earlier tab left are taken over. changed is called with each change.
   */
  constructor(owner: string, storage: Storage, changed: (entries: readonly Kept[]) => void) {
    this.#prefix = `atelier:out:${owner}:`
    this.#storage = storage
    this.#changed = changed
    for (const key of storage.keys()) {
      if (!key.startsWith(this.#prefix)) continue
      const entry = parse(storage.get(key))
      if (entry) this.#entries.push(entry)
      else storage.remove(key)
    }
    this.#entries.sort((a, b) => a.at - b.at)
    if (this.#entries.length > 0) this.#tell()
    storage.watch((key) => key.startsWith(this.#prefix) && this.#follow(key))
  }

  /** Another tab has sent an entry, was refused, or has brought it to its end. */
  #follow(key: string) {
    const ref = key.slice(this.#prefix.length)
    if (!this.#entries.some((e) => e.ref === ref)) return // its own affair
    const entry = parse(this.#storage.get(key))
    this.#entries = entry ? this.#entries.map((e) => (e.ref === ref ? entry : e)) : this.#entries.filter((e) => e.ref !== ref)
    this.#tell()
  }

  get entries(): readonly Kept[] {
    return this.#entries
  }

  /** Keeps a message and gives it as it is to be sent. False when it is full. */
  add(message: Kept['message'], now: number): Kept | false {
    if (states.has(message.type)) {
      for (const e of this.#entries) if (sameState(e.message, message) && e.sent === null) this.done(e.ref)
    }
    if (this.#entries.length >= most) return false
    const ref = crypto.getRandomValues(new Uint32Array(4)).reduce((s, n) => s + n.toString(36).padStart(7, '0'), '')
    const entry: Kept = { ref, message: { ...message, ref }, at: now, sent: null, refused: null }
    this.#entries = [...this.#entries, entry]
    this.#keep(entry)
    this.#tell()
    return entry
  }

  /** The messages to send, oldest first. */
  waiting(): readonly Kept[] {
    return this.#entries.filter((e) => e.refused === null)
  }

  /**
   * Marks an entry as sent, in the server's time. False when there is nothing to
   * send any more: another tab has done it meanwhile.
   */
  send(ref: string, now: number): boolean {
    const entry = this.#entries.find((e) => e.ref === ref)
    if (!entry || entry.refused !== null) return false
    if (this.#storage.get(this.#prefix + ref) === null) {
      this.done(ref)
      return false
    }
    entry.sent ??= now
    this.#keep(entry)
    return true
  }

  /** Those that may have arrived although the server no longer knows their refs. */
  doubtful(now: number): Kept[] {
    return this.#entries.filter((e) => e.refused === null && e.sent !== null && now - e.sent > refLife)
  }

  /** The message with this ref is stored, or is not wanted any more. */
  done(ref: string): void {
    if (!this.#entries.some((e) => e.ref === ref)) return
    this.#entries = this.#entries.filter((e) => e.ref !== ref)
    this.#storage.remove(this.#prefix + ref)
    this.#tell()
  }

  /** The server refused it: what somebody wrote stays, with the reason. */
  refused(ref: string, why: string): void {
    const entry = this.#entries.find((e) => e.ref === ref)
    if (entry && states.has(entry.message.type)) this.done(ref)
    else this.#change(ref, { refused: why })
  }

  /** The person wants it sent again. It is another attempt, with a ref of its own. */
  again(ref: string, now: number): Kept | false {
    const old = this.#entries.find((e) => e.ref === ref)
    if (!old) return false
    this.done(ref)
    return this.add(old.message, now)
  }

  #change(ref: string, change: Partial<Kept>) {
    this.#entries = this.#entries.map((e) => (e.ref === ref ? { ...e, ...change } : e))
    const entry = this.#entries.find((e) => e.ref === ref)
    if (entry) {
      this.#keep(entry)
      this.#tell()
    }
  }

  #keep(e: Kept) {
    this.#storage.set(this.#prefix + e.ref, JSON.stringify(e))
  }

  #tell() {
    this.#changed(this.#entries)
  }
}

function parse(text: string | null): Kept | null {
  try {
    const e = JSON.parse(text ?? '') as Kept
    return typeof e.ref === 'string' && typeof e.at === 'number' && typeof e.message?.type === 'string' ? e : null
  } catch {
    return null
  }
}

/** The device's storage; what it cannot keep (it is full, or forbidden) is kept in memory. */
export function deviceStorage(): Storage {
  const memory = new Map<string, string>()
  const guarded = <T>(f: () => T, otherwise: T) => {
    try {
      return f()
    } catch {
      return otherwise
    }
  }
  return {
    get: (key) => guarded(() => localStorage.getItem(key), null) ?? memory.get(key) ?? null,
    set(key, value) {
      if (!keeps() || !guarded(() => (localStorage.setItem(key, value), true), false)) memory.set(key, value)
    },
    remove(key) {
      memory.delete(key)
      guarded(() => localStorage.removeItem(key), undefined)
    },
    keys: () => [...new Set([...guarded(() => Object.keys(localStorage), []), ...memory.keys()])],
    watch: (f) => window.addEventListener('storage', (e) => e.key !== null && f(e.key)),
  }
}
