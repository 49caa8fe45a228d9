// The targets of links in a text. Targets are headings, with ids as on GitHub, and elements with an
// id or a name. The sanitiser adds a prefix to each id in the page, so that no id collides with an
// id of the app.

/** The prefix for a text's ids in the page. */
export const prefix = 'user-content-'

/**
 * Returns the id that GitHub gives a heading. It consists of letters and digits of any script, -
 * and _.
 */
export function slugOf(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}

/**
 * Sets the ids of the headings below root. Repeated heading ids get -1, -2 and so on. If two
 * elements have the same id, only the first keeps its id.
 */
export function nameHeadings(root: ParentNode): void {
  const taken = new Set<string>()
  for (const e of root.querySelectorAll('[id]')) {
    if (taken.has(e.id)) e.removeAttribute('id')
    else taken.add(e.id)
  }
  const used = new Map<string, number>()
  for (const h of root.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
    const slug = slugOf(h.textContent)
    if (h.id !== '' || slug === '') continue
    let n = used.get(slug) ?? 0
    let id = prefix + slug
    while (taken.has(id)) id = `${prefix}${slug}-${++n}`
    used.set(slug, n)
    taken.add(id)
    h.id = id
  }
}

/** The decoded fragment of an address. */
export function fragmentOf(href: string): string {
  const raw = href.slice(href.indexOf('#') + 1)
  try {
    return decodeURIComponent(raw)
  } catch {
    return raw
  }
}

/**
 * The element below root that a fragment identifies, or null. If no id matches, an id in lower case
 * matches too.
 */
export function placeOf(root: ParentNode, fragment: string): Element | null {
  if (fragment === '') return null
  return root.querySelector('#' + CSS.escape(prefix + fragment)) ?? root.querySelector('#' + CSS.escape(prefix + fragment.toLowerCase()))
}

/**
 * Scrolls to a place and focuses it, so that keyboard users and screen readers continue from there.
 */
export function goTo(place: HTMLElement): void {
  place.scrollIntoView()
  if (!place.matches('a[href], summary')) place.tabIndex = -1
  place.focus({ preventScroll: true })
}
