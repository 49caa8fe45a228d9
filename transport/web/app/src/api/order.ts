/**
 * Reads of the same data can overlap, and an earlier read can be answered after a later one. Each
 * call of the returned function begins a read, and returns a function to call when its response
 * arrives. That function returns false if the response to a later read was already used.
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
