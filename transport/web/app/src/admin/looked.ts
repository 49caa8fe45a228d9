// Keeps data up to date while the page is visible.

/**
 * An attachment that reads as soon as the page is visible, and then repeatedly while it stays
 * visible. Two reads are at least `every` milliseconds apart, even if somebody switches to another
 * tab and back.
 */
export function whileLooked(read: () => void, every: number): () => () => void {
  return () => {
    let early: ReturnType<typeof setTimeout> | undefined
    const look = () => {
      if (early !== undefined || document.visibilityState !== 'visible') return
      read()
      early = setTimeout(() => {
        early = undefined
        look()
      }, every)
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => {
      clearTimeout(early)
      document.removeEventListener('visibilitychange', look)
    }
  }
}
