// Maps screens to the part of the handbook that explains them.

/**
 * Patterns for the first segments of a path, each with a page and an optional section. A segment
 * with a colon matches any segment. The first match counts.
 */
export const helpFor: readonly (readonly [screen: string, place: string])[] = [
  ['/admin/audit-logs', 'operations#personal-data'],
  ['/admin/participants', 'tokens'],
  ['/admin/people', 'helping'],
  ['/admin/settings', 'operations'],
  ['/admin/:id/edit', 'writing'],
  ['/admin/:id/code', 'writing#the-code'],
  ['/admin/:id', 'workshops'],
  ['/admin', 'workshops'],
  ['/account', 'workshops'],
  ['/login', 'workshops'],
  ['/invite', 'helping'],
  ['/certificate', 'attending#your-certificate'],
  ['/verify', 'attending#your-certificate'],
  ['/codelabs', 'attending'],
  ['/j', 'attending#join'],
]

/** The handbook path for the screen at a path. Helpers have a separate page for workshops. */
export function helpPath(screen: string, helper = false): string {
  const found = helpFor.find(([pattern]) => fits(pattern, screen))?.[1] ?? ''
  return found === '' ? '/help' : `/help/${helper && found === 'workshops' ? 'helping' : found}`
}

function fits(pattern: string, path: string): boolean {
  const is = path.split('/')
  return pattern.split('/').every((segment, i) => (segment.startsWith(':') ? (is[i] ?? '') !== '' : segment === is[i]))
}
