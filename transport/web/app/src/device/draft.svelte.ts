// The draft of a form, stored on this device.
import { recall, remember } from './remember'

/** The contents of a form. Each change is stored immediately, so that it survives a closed tab. */
export class Draft<T> {
  readonly #key: string | null
  readonly #empty: T
  readonly #isEmpty: (value: T) => boolean
  #value: T

  /**
   * Recalls the draft with this key, or begins with the empty form. A null key stores nothing.
   * Contents for which isEmpty returns true are removed from the storage. By default these are the
   * contents of the empty form.
   */
  constructor(key: string | null, empty: T, isEmpty = (value: T) => JSON.stringify(value) === JSON.stringify(empty)) {
    this.#key = key
    this.#empty = empty
    this.#isEmpty = isEmpty
    this.#value = $state.raw(key === null ? empty : recall(key, empty))
    if (key !== null && !isEmpty(this.#value)) remember(key, this.#value)
  }

  get value(): T {
    return this.#value
  }

  set value(value: T) {
    this.#value = value
    if (this.#key !== null) remember(this.#key, this.#isEmpty(value) ? undefined : value)
  }

  /** Changes some fields. */
  change(fields: Partial<T>): void {
    this.value = { ...this.value, ...fields }
  }

  clear(): void {
    this.value = this.#empty
  }
}
