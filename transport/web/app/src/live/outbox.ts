// A person's messages that the server has not yet acknowledged. They are stored on the device, so
// that they survive if the network fails or the tab is closed. Each message has a reference, so
// that the server stores no message twice.

import { keeps } from '../device/remember'

export interface Kept {
  ref: string
  /** The message to send, including its ref. */
  message: { type: string; [key: string]: unknown }
  /** The time at which the person wrote the message, in Unix milliseconds. */
  at: number
  /**
   * The time at which the message was first sent to the server, in server time, or null before it
   * was sent.
   */
  sent: number | null
  /**
   * The reason why the server refused the message, or null if the server has not refused it. A
   * refused message waits for the person's decision.
   */
  refused: string | null
}

/** The storage of an outbox: the device's, or a Map in tests. */
export interface Storage {
  get(key: string): string | null
  set(key: string, value: string): void
  remove(key: string): void
  keys(): string[]
  /** Calls f after another tab of this device has changed an entry. */
  watch(f: (key: string) => void): void
}

/**
 * The age of a sent message from which on the app checks whether the message has arrived before it
 * sends the message again, in milliseconds. The server stores a ref for only ten minutes.
 */
const refLife = 9 * 60_000
/** The maximum number of entries, which is more than a person writes offline. */
const most = 200

/**
 * Message types of which only the latest message matters: position, mood, pointer and ticked tasks.
 */
const states = new Set(['step_progress', 'pulse', 'pointer', 'tick'])

const sameState = (a: Kept['message'], b: Kept['message']) => a.type === b.type && a['step_id'] === b['step_id'] && a['item'] === b['item']

export class Outbox {
  #prefix: string
  #storage: Storage
  #entries: Kept[] = []
  #changed: (entries: readonly Kept[]) => void

  /**
   * owner identifies the codelab and the person. Entries that an earlier tab left on this device
   * are taken over. changed is called after each change.
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

  /**
   * Applies a change by another tab, which has sent or completed an entry, or received its refusal.
   */
  #follow(key: string) {
    const ref = key.slice(this.#prefix.length)
    if (!this.#entries.some((e) => e.ref === ref)) return // only the other tab has this entry
    const entry = parse(this.#storage.get(key))
    this.#entries = entry ? this.#entries.map((e) => (e.ref === ref ? entry : e)) : this.#entries.filter((e) => e.ref !== ref)
    this.#tell()
  }

  get entries(): readonly Kept[] {
    return this.#entries
  }

  /**
   * Stores a message and returns its entry. If only the latest message of its kind matters, earlier
   * unsent messages of that kind are removed. Returns false if the outbox is full.
   */
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
   * Marks an entry as sent at a server time. Returns false if the entry must not be sent, because
   * the server refused it or another tab has completed it.
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

  /**
   * Messages that were sent so long ago that the server can have stored them and dropped their
   * refs.
   */
  doubtful(now: number): Kept[] {
    return this.#entries.filter((e) => e.refused === null && e.sent !== null && now - e.sent > refLife)
  }

  /** Removes an entry, because its message is stored or no longer wanted. */
  done(ref: string): void {
    if (!this.#entries.some((e) => e.ref === ref)) return
    this.#entries = this.#entries.filter((e) => e.ref !== ref)
    this.#storage.remove(this.#prefix + ref)
    this.#tell()
  }

  /**
   * Records that the server refused a message. A message of which only the latest matters is
   * removed. Any other message is kept together with the reason.
   */
  refused(ref: string, why: string): void {
    const entry = this.#entries.find((e) => e.ref === ref)
    if (entry && states.has(entry.message.type)) this.done(ref)
    else this.#change(ref, { refused: why })
  }

  /**
   * Replaces the entry of a refused message with a new entry, which has a new ref and waits to be
   * sent. Returns the new entry, or false if the old entry no longer exists.
   */
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

/** The device's storage. If it is full or unavailable, entries are kept in memory. */
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
