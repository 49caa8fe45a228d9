/** The longest of the given addresses that contains a path. */
export function pageAt(pages: readonly (readonly [href: string, ...rest: unknown[]])[], path: string): string | undefined {
  const above = pages.map(([href]) => href).filter((href) => path === href || path.startsWith(`${href}/`))
  return above.toSorted((a, b) => b.length - a.length)[0]
}
