// Commands for a terminal.
import type { Schemas } from '../../api/client'

/** Replaces a password in visible text. */
const mask = '••••••'

/** The command that clones the code. shown is the same command without the password. */
export function clone(access: Pick<Schemas['GitAccess'], 'url' | 'username' | 'password'>): { text: string; shown: string } {
  const [, scheme, rest] = /^(https?:\/\/)(.*)$/.exec(access.url) ?? ['', '', access.url]
  // The directory gets a readable name, because the address ends with an id.
  const command = (password: string) => `git clone ${scheme}${encodeURIComponent(access.username)}:${password}@${rest} code`
  return { text: command(encodeURIComponent(access.password)), shown: command(mask) }
}

/**
 * The commands that continue from a state, regardless of the attendee's earlier work. Uncommitted
 * changes are stashed. Local branches stay unchanged, even if an author has changed an earlier
 * state. Each command is on a separate line, because shells differ in command separators.
 */
export function switchTo(name: string): string {
  return `git stash -u\ngit fetch\ngit switch --detach origin/${name}`
}

/** The command that reports a passed check. shown is the same command without the token. */
export function report(access: Pick<Schemas['CheckAccess'], 'url' | 'token'>, check: string): { text: string; shown: string } {
  const command = (token: string) => `curl -sS -H "Authorization: Bearer ${token}" -d ok=true --data-urlencode "note=" ${access.url}/${check}`
  return { text: command(access.token), shown: command(mask) }
}
