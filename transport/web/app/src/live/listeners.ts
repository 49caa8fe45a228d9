/** Functions that want to hear of something, until they are taken away. */
export class Listeners<A extends unknown[]> {
  readonly #all = new Set<(...told: A) => void>()

  /** Calls f from now on, until the returned function is called. */
  add(f: (...told: A) => void): () => void {
    this.#all.add(f)
    return () => this.#all.delete(f)
  }

  tell(...told: A): void {
    for (const f of this.#all) f(...told)
  }
}
