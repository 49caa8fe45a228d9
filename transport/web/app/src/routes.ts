// Path -> screen. Each screen is loaded when it is first shown, and its texts with it.
import { createRouter } from 'sv-router'
import { withTexts } from './messages/texts'

export const { p, navigate, isActive, route } = createRouter({
  '/': () => withTexts(() => import('./screens/home/Home.svelte')),
  '/invite': () => withTexts(() => import('./screens/invite/Invite.svelte')),
  '/account': () => withTexts(() => import('./screens/account/Account.svelte')),
  '/login': () => withTexts(() => import('./screens/login/Login.svelte')),
  '/j/:code': () => withTexts(() => import('./screens/join/JoinByCode.svelte')),
  '/codelabs/:id': {
    '/': () => withTexts(() => import('./screens/reader/Codelab.svelte')),
    '/all': () => withTexts(() => import('./screens/whole/Whole.svelte')),
  },
  '/certificate/:id': () => withTexts(() => import('./screens/certificate/Certificate.svelte')),
  '/verify/:id': () => withTexts(() => import('./screens/verify/Verify.svelte')),
  '/admin': {
    '/': () => withTexts(() => import('./screens/codelabs/Codelabs.svelte')),
    '/audit-logs': () => withTexts(() => import('./screens/audit/AuditLogs.svelte')),
    '/participants': () => withTexts(() => import('./screens/participants/Participants.svelte')),
    '/people': () => withTexts(() => import('./screens/people/People.svelte')),
    '/settings': () => withTexts(() => import('./screens/settings/Settings.svelte')),
    '/:id': {
      '/': () => withTexts(() => import('./screens/live/Live.svelte')),
      '/edit': () => withTexts(() => import('./screens/edit/Edit.svelte')),
      '/code': () => withTexts(() => import('./screens/code/Code.svelte')),
      '/results': () => withTexts(() => import('./screens/results/Results.svelte')),
      '/settings': () => withTexts(() => import('./screens/codelab/CodelabSettings.svelte')),
      '/projector': () => withTexts(() => import('./screens/projector/Projector.svelte')),
    },
  },
  '*missing': () => withTexts(() => import('./screens/missing/Missing.svelte')),
})
