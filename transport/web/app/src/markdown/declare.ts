/**
 * A quick test whether a text can declare a check. Most texts do not, and are not parsed for it.
 */
export function mayDeclare(markdown: string): boolean {
  return /(?:```|~~~)[ \t]*check[ \t]/.test(markdown)
}
