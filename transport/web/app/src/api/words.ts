// Turns errors into messages that a person can act on.
import { m } from '../messages/compiled/messages.js'
import { Refused } from './refused'

/** The message for an error: what happened, and what to do. */
export function words(e: unknown): string {
  if (!(e instanceof Refused)) {
    console.error(e)
    return m.error_app()
  }
  switch (true) {
    case e.status === 0:
      return m.error_offline()
    case e.status === 401:
      return m.error_signed_out()
    case e.status === 403:
      return e.said ? m.error_forbidden_because({ said: sentence(e.said) }) : m.error_forbidden()
    case e.status === 404:
      return m.error_gone()
    case e.status === 413:
      return m.error_too_large({ said: sentence(e.said) })
    case e.status === 429:
      return m.error_busy()
    case e.status >= 500:
      return m.error_server()
    default:
      return e.said ? m.error_refused({ said: sentence(e.said) }) : m.error_app()
  }
}

/** Makes a sentence of a server's message, which begins in lower case and has no full stop. */
export function sentence(said: string): string {
  const text = said.charAt(0).toUpperCase() + said.slice(1)
  return /[.!?]$/.test(text) ? text : text + '.'
}
