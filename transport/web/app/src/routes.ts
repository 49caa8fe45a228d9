// Path -> screen. Each screen is loaded when it is first shown, and its texts with it.
import { createRouter } from 'sv-router'
import type { Component } from 'svelte'
import { withTexts } from './messages/texts'
import Unloaded from './parts/Unloaded.svelte'

/** Whether a screen is there: it stays when another one cannot be loaded. */
let shown = false

type Screen = { default: Component }

async function screen(load: () => Promise<Screen>): Promise<Screen> {
  try {
    const found = await withTexts(load)
    shown = true
    return found
  } catch (e) {
    if (shown) throw e
    return { default: Unloaded as Component }
  }
}

export const { p, navigate, isActive, route } = createRouter({
  '/': () => screen(() => import('./screens/home/Home.svelte')),
  '/invite': () => screen(() => import('./screens/invite/Invite.svelte')),
  '/account': () => screen(() => import('./screens/account/Account.svelte')),
  '/login': () => screen(() => import('./screens/login/Login.svelte')),
  '/j/:code': () => screen(() => import('./screens/join/JoinByCode.svelte')),
  '/codelabs/:id': {
    '/': () => screen(() => import('./screens/reader/Codelab.svelte')),
    '/all': () => screen(() => import('./screens/whole/Whole.svelte')),
  },
  '/certificate/:id': () => screen(() => import('./screens/certificate/Certificate.svelte')),
  '/verify/:id': () => screen(() => import('./screens/verify/Verify.svelte')),
  '/admin': {
    '/': () => screen(() => import('./screens/codelabs/Codelabs.svelte')),
    '/audit-logs': () => screen(() => import('./screens/audit/AuditLogs.svelte')),
    '/participants': () => screen(() => import('./screens/participants/Participants.svelte')),
    '/people': () => screen(() => import('./screens/people/People.svelte')),
    '/settings': () => screen(() => import('./screens/settings/Settings.svelte')),
    '/:id': {
      '/': () => screen(() => import('./screens/live/Live.svelte')),
      '/edit': () => screen(() => import('./screens/edit/Edit.svelte')),
      '/code': () => screen(() => import('./screens/code/Code.svelte')),
      '/results': () => screen(() => import('./screens/results/Results.svelte')),
      '/settings': () => screen(() => import('./screens/codelab/CodelabSettings.svelte')),
      '/projector': () => screen(() => import('./screens/projector/Projector.svelte')),
    },
  },
  '*missing': () => screen(() => import('./screens/missing/Missing.svelte')),
})
