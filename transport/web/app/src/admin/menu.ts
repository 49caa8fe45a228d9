// The menu entries shared by all facilitator pages.
import { words } from '../api/words'
import { signOut } from '../device/session'
import { m } from '../messages/compiled/messages.js'
import type { Item } from '../parts/Menu.svelte'
import { complain } from '../parts/toasts.svelte'
import { leader } from './leader.svelte'

async function leave(): Promise<void> {
  try {
    await signOut('/login', (count) => confirm(m.sign_out_unsent({ count })))
  } catch (e) {
    complain(words(e))
  }
}

export function adminMenu(): Item[] {
  return [
    { label: m.admin_codelabs(), href: '/admin' },
    ...(leader.assists ? [] : [{ label: m.leaders_title(), href: '/admin/people' }]),
    ...(leader.rank === 'owner'
      ? [
          { label: m.admin_settings(), href: '/admin/settings' },
          { label: m.admin_participants(), href: '/admin/participants' },
        ]
      : []),
    ...(leader.assists ? [] : [{ label: m.admin_audit(), href: '/admin/audit-logs' }]),
    { label: m.account_title(), href: '/account' },
    { label: m.admin_sign_out(), run: () => void leave() },
  ]
}
