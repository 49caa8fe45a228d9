/** Sizes are not made smaller than this share of what they should be. */
const least = 0.35

/**
 * Makes what is in an element as large as it may be and as small as it must be, so that
 * the last row of a room sees all of it without scrolling: sets --fit, a share of 1, with
 * which the element multiplies its sizes.
 */
export function fit(node: HTMLElement): () => void {
  const fits = (share: number) => {
    node.style.setProperty('--fit', String(share))
    return node.scrollHeight <= node.clientHeight + 1 && node.scrollWidth <= node.clientWidth + 1
  }
  const measure = () => {
    if (fits(1)) return
    let [low, high] = [least, 1]
    while (high - low > 0.03) {
      const middle = (low + high) / 2
      if (fits(middle)) low = middle
      else high = middle
    }
    fits(low)
  }
  const size = new ResizeObserver(measure)
  const content = new MutationObserver(measure)
  size.observe(node)
  content.observe(node, { childList: true, subtree: true, characterData: true })
  return () => {
    size.disconnect()
    content.disconnect()
  }
}
