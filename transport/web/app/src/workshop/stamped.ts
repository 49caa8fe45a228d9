// A value with the stream position at which it was received or read. An older value never replaces
// a newer one. Pure.

export interface Stamped<T> {
  readonly value: T
  /** -1 if the position is unknown. */
  readonly at: number
}

export const unstamped = <T>(value: T): Stamped<T> => ({ value, at: -1 })

/** Applies a value with its position (null if unknown; then the value is accepted). */
export function newer<T>(before: Stamped<T>, value: T, at: number | null): Stamped<T> {
  if (at === null) return { value, at: before.at }
  return at < before.at ? before : { value, at }
}
