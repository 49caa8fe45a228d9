// Which part of the handbook explains a screen.

/** From the address of a screen, a colon for any segment, to a page and its section. The first that fits. */
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

/** The path in the handbook for the screen at a path. Helpers have their own page for the workshops that they lead. */
export function helpPath(screen: string, helper = false): string {
  const found = helpFor.find(([pattern]) => fits(pattern, screen))?.[1] ?? ''
  return found === '' ? '/help' : `/help/${helper && found === 'workshops' ? 'helping' : found}`
}

function fits(pattern: string, path: string): boolean {
  const is = path.split('/')
  return pattern.split('/').every((segment, i) => (segment.startsWith(':') ? (is[i] ?? '') !== '' : segment === is[i]))
}
