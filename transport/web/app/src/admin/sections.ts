// The index of a settings screen.

/** A group of sections with a heading. */
export interface Group {
  readonly label?: () => string
  readonly sections: readonly { readonly id: string; readonly label: () => string }[]
}

/** Returns the id of the section with this name, or of the first section if none has it. */
export function sectionAt(groups: readonly Group[], name: string | undefined): string {
  const all = groups.flatMap((g) => g.sections.map((s) => s.id))
  return all.find((id) => id === name) ?? all[0] ?? ''
}
