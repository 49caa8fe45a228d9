// Path -> screen. Each screen is loaded when it is first shown.
import { createRouter } from 'sv-router'

export const { p, navigate, isActive, route } = createRouter({
  '/': () => import('./screens/home/Home.svelte'),
  '/invite': () => import('./screens/invite/Invite.svelte'),
  '/account': () => import('./screens/account/Account.svelte'),
  '/login': () => import('./screens/login/Login.svelte'),
  '/j/:code': () => import('./screens/join/JoinByCode.svelte'),
  '/codelabs/:id': {
    '/': () => import('./screens/reader/Codelab.svelte'),
    '/all': () => import('./screens/whole/Whole.svelte'),
  },
  '/certificate/:id': () => import('./screens/certificate/Certificate.svelte'),
  '/verify/:id': () => import('./screens/verify/Verify.svelte'),
  '/admin': {
    '/': () => import('./screens/codelabs/Codelabs.svelte'),
    '/audit-logs': () => import('./screens/audit/AuditLogs.svelte'),
    '/participants': () => import('./screens/participants/Participants.svelte'),
    '/people': () => import('./screens/people/People.svelte'),
    '/settings': () => import('./screens/settings/Settings.svelte'),
    '/:id': {
      '/': () => import('./screens/live/Live.svelte'),
      '/edit': () => import('./screens/edit/Edit.svelte'),
      '/code': () => import('./screens/code/Code.svelte'),
      '/results': () => import('./screens/results/Results.svelte'),
      '/settings': () => import('./screens/codelab/CodelabSettings.svelte'),
      '/projector': () => import('./screens/projector/Projector.svelte'),
    },
  },
  '*missing': () => import('./screens/missing/Missing.svelte'),
})
