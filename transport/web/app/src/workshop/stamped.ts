// A value with the stream position at which it was received or read. An older value never replaces
// a newer one. The function has no side effects.

export interface Stamped<T> {
  readonly value: T
  /** The position of the value, or -1 if it is unknown. */
  readonly at: number
}

export const unstamped = <T>(value: T): Stamped<T> => ({ value, at: -1 })

/** Applies a value with its position. A value whose position is unknown (null) is accepted. */
export function newer<T>(before: Stamped<T>, value: T, at: number | null): Stamped<T> {
  if (at === null) return { value, at: before.at }
  return at < before.at ? before : { value, at }
}
