// What stays fresh by itself while somebody looks.

/**
 * An attachment that reads at once, and then again and again while the page is shown:
 * never sooner than every milliseconds after the last time, also when somebody goes to
 * another tab and comes back.
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
