// A value with the stream's position at which it was received or read. An older value never
// replaces a newer one. Pure.

export interface Stamped<T> {
  readonly value: T
  /** -1: the position is not known. */
  readonly at: number
}

export const unstamped = <T>(value: T): Stamped<T> => ({ value, at: -1 })

/** Takes a value of a position (null: not known, and taken). */
export function newer<T>(before: Stamped<T>, value: T, at: number | null): Stamped<T> {
  if (at === null) return { value, at: before.at }
  return at < before.at ? before : { value, at }
}
