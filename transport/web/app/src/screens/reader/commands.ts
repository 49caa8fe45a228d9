// Commands that people paste into a shell.
import type { Schemas } from '../../api/client'

/** Replaces a password in visible text. */
const mask = '••••••'

/** The command that clones the code; shown is the same without its password. */
export function clone(access: Pick<Schemas['GitAccess'], 'url' | 'username' | 'password'>): { text: string; shown: string } {
  const [, scheme, rest] = /^(https?:\/\/)(.*)$/.exec(access.url) ?? ['', '', access.url]
  // A directory with a name; that of the address is an id.
  const command = (password: string) => `git clone ${scheme}${encodeURIComponent(access.username)}:${password}@${rest} code`
  return { text: command(encodeURIComponent(access.password)), shown: command(mask) }
}

/**
 * The commands that continue from a state, whatever somebody has done. Uncommitted changes are
 * stashed. Branches stay as they are, even if an author changed the state that one began with.
 * Each command is a line, since shells differ in the separators of commands.
 */
export function switchTo(name: string): string {
  return `git stash -u\ngit fetch\ngit switch --detach origin/${name}`
}

/** The command that reports a passed check; shown is the same without its token. */
export function report(access: Pick<Schemas['CheckAccess'], 'url' | 'token'>, check: string): { text: string; shown: string } {
  const command = (token: string) => `curl -sS -H "Authorization: Bearer ${token}" -d ok=true --data-urlencode "note=" ${access.url}/${check}`
  return { text: command(access.token), shown: command(mask) }
}
