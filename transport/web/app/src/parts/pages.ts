/** The address, of those of pages, that a path is at or below. */
export function pageAt(pages: readonly (readonly [href: string, ...rest: unknown[]])[], path: string): string | undefined {
  const above = pages.map(([href]) => href).filter((href) => path === href || path.startsWith(`${href}/`))
  return above.toSorted((a, b) => b.length - a.length)[0]
}
