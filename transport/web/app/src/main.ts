import { mount } from 'svelte'
import App from './App.svelte'
import { dressPage } from './device/appearance.svelte'
import { followSession } from './device/session'
import { ready } from './messages/texts'
import { followBuilds } from './offline/upgrade'
import './styles/tokens.css'
import './styles/base.css'

dressPage()
followSession()
const target = document.getElementById('app')
if (target)
  void ready().then(() => {
    mount(App, { target })
    followBuilds()
  })

// A page that was open while the server was replaced asks for parts that are no
// longer there: it is loaded anew, once. Without a network it stays as it is,
// with the text that one reads.
const reloaded = 'atelier:reloaded'
addEventListener('vite:preloadError', () => {
  void (async () => {
    try {
      if (sessionStorage.getItem(reloaded) === document.lastModified) return
      const answer = await fetch('/', { method: 'HEAD', cache: 'no-store' })
      if (!answer.ok) return
      sessionStorage.setItem(reloaded, document.lastModified)
      location.reload()
    } catch {
      // Offline.
    }
  })()
})
