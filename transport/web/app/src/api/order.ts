/**
 * Reads of the same data can overlap, and an earlier one can answer later. Each call of the
 * returned function begins a read. Its result reports whether the response may be used, which is
 * false after the response of a later read.
 */
export function inOrder(): () => () => boolean {
  let begun = 0
  let used = 0
  return () => {
    const mine = ++begun
    return () => {
      if (mine < used) return false
      used = mine
      return true
    }
  }
}
