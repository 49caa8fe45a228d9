// Maps paths to screens. Each screen and its texts are loaded when the screen is first shown.
import { createRouter } from 'sv-router'
import type { Component } from 'svelte'
import { framed } from './device/place'
import { withTexts } from './messages/texts'
import Unloaded from './parts/Unloaded.svelte'

/** Whether a screen is visible. It stays visible if the next screen cannot be loaded. */
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

/** A screen for facilitators. Within a frame of another page it opens in a separate window. */
const lead = (load: () => Promise<Screen>) => screen(framed ? () => import('./parts/Framed.svelte') : load)

export const { p, navigate, isActive, route } = createRouter({
  '/': () => screen(() => import('./screens/home/Home.svelte')),
  '/invite': () => lead(() => import('./screens/invite/Invite.svelte')),
  '/account': () => lead(() => import('./screens/account/Account.svelte')),
  '/login': () => lead(() => import('./screens/login/Login.svelte')),
  '/j/:code': () => screen(() => import('./screens/join/JoinByCode.svelte')),
  '/codelabs/:id': {
    '/': () => screen(() => import('./screens/reader/Codelab.svelte')),
    '/all': () => screen(() => import('./screens/whole/Whole.svelte')),
  },
  '/certificate/:id': () => screen(() => import('./screens/certificate/Certificate.svelte')),
  '/verify/:id': () => screen(() => import('./screens/verify/Verify.svelte')),
  '/admin': {
    '/': () => lead(() => import('./screens/codelabs/Codelabs.svelte')),
    '/audit-logs': () => lead(() => import('./screens/audit/AuditLogs.svelte')),
    '/participants': () => lead(() => import('./screens/participants/Participants.svelte')),
    '/people': () => lead(() => import('./screens/people/People.svelte')),
    '/settings': () => lead(() => import('./screens/settings/Settings.svelte')),
    '/settings/:section': () => lead(() => import('./screens/settings/Settings.svelte')),
    '/:id': {
      '/': () => lead(() => import('./screens/live/Live.svelte')),
      '/edit': () => lead(() => import('./screens/edit/Edit.svelte')),
      '/code': () => lead(() => import('./screens/code/Code.svelte')),
      '/results': () => lead(() => import('./screens/results/Results.svelte')),
      '/settings': () => lead(() => import('./screens/codelab/CodelabSettings.svelte')),
      '/settings/:section': () => lead(() => import('./screens/codelab/CodelabSettings.svelte')),
      '/projector': () => lead(() => import('./screens/projector/Projector.svelte')),
    },
  },
  '/help': () => screen(() => import('./handbook/Help.svelte')),
  '/help/:page': () => screen(() => import('./handbook/Help.svelte')),
  '*missing': () => screen(() => import('./screens/missing/Missing.svelte')),
})
