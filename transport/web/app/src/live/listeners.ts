/** A list of listeners. */
export class Listeners<A extends unknown[]> {
  readonly #all = new Set<(...told: A) => void>()

  /** Adds a listener. The returned function removes it. */
  add(f: (...told: A) => void): () => void {
    this.#all.add(f)
    return () => this.#all.delete(f)
  }

  tell(...told: A): void {
    for (const f of this.#all) f(...told)
  }
}
