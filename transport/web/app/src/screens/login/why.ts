// Texts for failed sign-ins at the identity provider.
import { m } from '../../messages/compiled/messages.js'

const sentences: Record<string, () => string> = {
  away: m.login_why_away,
  busy: m.login_why_busy,
  expired: m.login_why_expired,
  denied: m.login_why_denied,
  invalid: m.login_why_invalid,
  unverified: m.login_why_unverified,
  not_allowed: m.login_why_not_allowed,
  disabled: m.login_why_disabled,
  deleted: m.login_why_deleted,
  other_login: m.login_why_other_login,
  no_login: m.login_why_no_login,
  full: m.login_why_full,
}

/**
 * Returns the text for the server's reason, or null if there is no reason. Unknown reasons get a
 * general text.
 */
export function whyNot(word: string | null): string | null {
  if (word === null) return null
  return (Object.hasOwn(sentences, word) ? sentences[word]! : m.login_why_invalid)()
}
