/** The minimum size, as a share of the normal value. */
const least = 0.35

/**
 * Makes the content of an element as large as possible without scrolling, so that people in the
 * last row can read it. It sets --fit, a factor of at most 1, with which the element multiplies its
 * sizes.
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
