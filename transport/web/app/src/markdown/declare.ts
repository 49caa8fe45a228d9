/** Whether a text may declare one: nearly all do not, and are not read for it. */
export function mayDeclare(markdown: string): boolean {
  return /(?:```|~~~)[ \t]*check[ \t]/.test(markdown)
}
