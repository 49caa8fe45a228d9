/** Returns a new id that nobody can guess. crypto.randomUUID is missing over plain HTTP. */
export const token = (): string => Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, '0')).join('')
