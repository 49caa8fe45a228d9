// What is read out although nobody looked for it.
let polite = $state('')
let urgent = $state('')

export const announcer = {
  get polite() {
    return polite
  },
  get urgent() {
    return urgent
  },
}

/** Reads a text out when there is a pause. */
export function announce(text: string): void {
  polite = text === polite ? text + '\u00a0' : text
}

/** Reads a text out at once; for what everybody must hear. */
export function announceNow(text: string): void {
  urgent = text === urgent ? text + '\u00a0' : text
}
