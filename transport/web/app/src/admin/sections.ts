// The index of a settings screen.

/** A group of sections with a heading. */
export interface Group {
  readonly label?: () => string
  readonly sections: readonly { readonly id: string; readonly label: () => string }[]
}

/** The section with that name, or the first section if no section has this name. */
export function sectionAt(groups: readonly Group[], name: string | undefined): string {
  const all = groups.flatMap((g) => g.sections.map((s) => s.id))
  return all.find((id) => id === name) ?? all[0] ?? ''
}
