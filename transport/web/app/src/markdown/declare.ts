/**
 * Quickly tests whether a text can declare a check. Most texts cannot, and need not be parsed for
 * checks.
 */
export function mayDeclare(markdown: string): boolean {
  return /(?:```|~~~)[ \t]*check[ \t]/.test(markdown)
}
