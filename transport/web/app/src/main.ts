import { mount } from 'svelte'
import App from './App.svelte'
import { dressPage } from './device/appearance.svelte'
import './styles/tokens.css'
import './styles/base.css'

dressPage()
const target = document.getElementById('app')
if (target) mount(App, { target })

// A page that was open while the server was replaced asks for parts that are no
// longer there: it is loaded anew, once.
addEventListener('vite:preloadError', (e) => {
  const key = 'atelier:reloaded'
  if (sessionStorage.getItem(key)) return
  e.preventDefault()
  sessionStorage.setItem(key, '1')
  location.reload()
})
