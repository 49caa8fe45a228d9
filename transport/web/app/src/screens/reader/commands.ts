// Commands that people paste into a shell.
import type { Schemas } from '../../api/client'

/** What stands for a password where it can be seen. */
const mask = '••••••'

/** What clones the code; shown is the same without its password. */
export function clone(access: Pick<Schemas['GitAccess'], 'url' | 'username' | 'password'>): { text: string; shown: string } {
  const [, scheme, rest] = /^(https?:\/\/)(.*)$/.exec(access.url) ?? ['', '', access.url]
  // A directory with a name; that of the address is an id.
  const command = (password: string) => `git clone ${scheme}${encodeURIComponent(access.username)}:${password}@${rest} code`
  return { text: command(encodeURIComponent(access.password)), shown: command(mask) }
}

/**
 * What goes on with a state, whatever somebody has done: what they have not committed is
 * put aside, and their branches stay as they are, also when an author changed the state
 * that one began with. Lines, as shells differ in what may stand between commands.
 */
export function switchTo(name: string): string {
  return `git stash -u\ngit fetch\ngit switch --detach origin/${name}`
}

/** What says that a check went well; shown is the same without its token. */
export function report(access: Pick<Schemas['CheckAccess'], 'url' | 'token'>, check: string): { text: string; shown: string } {
  const command = (token: string) => `curl -sS -H "Authorization: Bearer ${token}" -d ok=true --data-urlencode "note=" ${access.url}/${check}`
  return { text: command(access.token), shown: command(mask) }
}
