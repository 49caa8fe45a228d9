/**
 * Returns the hash of a text, with which comments identify the version of their text. It is the
 * 32-bit FNV-1a hash of the UTF-16 code units, in lower-case hex without leading zeros.
 */
export function contentHash(text: string): string {
  let h = 0x811c9dc5
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return (h >>> 0).toString(16)
}
