// Finds the target of a fragment in other texts. This module is loaded when somebody clicks a link
// to another text.
import { nameHeadings, placeOf, prefix, slugOf } from './anchors'
import { parse } from './parse'

/** Whether a text has a place with this name. The text is parsed for this test and not shown. */
export function hasPlace(markdown: string, fragment: string): boolean {
  const html = parse(markdown, 3)
  if (html === null) return false
  const page = new DOMParser().parseFromString(html, 'text/html')
  for (const e of page.querySelectorAll('[id], a[name]')) e.id = prefix + (e.id || e.getAttribute('name')!)
  nameHeadings(page)
  return placeOf(page, fragment) !== null
}

/**
 * Returns the step that a fragment identifies by its title or its content, or undefined if no step
 * matches.
 */
export function stepOf<S extends { title: string; content_markdown: string }>(steps: readonly S[], fragment: string): S | undefined {
  const wanted = fragment.toLowerCase()
  return steps.find((s) => slugOf(s.title) === wanted) ?? steps.find((s) => hasPlace(s.content_markdown, fragment))
}
