import { mount } from 'svelte'
import App from './App.svelte'
import { dressPage } from './device/appearance.svelte'
import { sitePath } from './device/place'
import { followSession } from './device/session'
import { ready } from './messages/texts'
import { unloaded } from './offline/unloaded'
import { followBuilds, mayReload, reloadWhenIdle } from './offline/upgrade'
import './styles/tokens.css'
import './styles/base.css'

dressPage()
followSession()
const target = document.getElementById('app')
if (target)
  void ready().then(
    () => {
      mount(App, { target })
      followBuilds()
    },
    () => unloaded(target),
  )

/**
 * The time, in milliseconds, within which a second missing module causes no further reload, because
 * another reload would not help.
 */
const soon = 60_000

// A page that stays open during a server upgrade requests modules that no longer exist, so it
// reloads. Without a network the page does not reload, so that the open text stays readable.
addEventListener('vite:preloadError', () => {
  if (!mayReload(soon)) return
  fetch(sitePath('/'), { method: 'HEAD', cache: 'no-store' }).then(
    (answer) => answer.ok && reloadWhenIdle(soon),
    () => {}, // offline
  )
})
