import { existsSync } from 'node:fs'
import { ofTheApp } from './ofTheApp.mjs'

/** The browser's program: FIREFOX, or where distributions put it. */
function findFirefox() {
  const found = process.env.FIREFOX || ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync)
  if (!found) throw new Error('there is no Firefox; FIREFOX names its program')
  return found
}

/**
 * Starts Firefox as its distribution built it, over WebDriver BiDi. Every name is this machine:
 * it reaches nothing else.
 */
export async function openFirefox() {
  answerForFirefox()
  return ofTheApp('playwright-core').firefox.launch({
    channel: 'moz-firefox',
    executablePath: findFirefox(),
    headless: !process.env.HEADED,
    firefoxUserPrefs: {
      'network.dns.forceResolve': '127.0.0.1',
      'network.captive-portal-service.enabled': false,
      'network.connectivity-service.enabled': false,
      'media.navigator.permission.disabled': true,
      // There is a mouse, also where none is plugged in.
      'ui.primaryPointerCapabilities': 6,
      'ui.allPointerCapabilities': 6,
      // A page in the background keeps its timers, as people in two windows have it.
      'dom.min_background_timeout_value': 4,
      'dom.min_background_timeout_value_without_budget_throttling': 4,
    },
  })
}

/** What playwright asks of every page, and Firefox 153 does not have yet. */
const unknown = 'emulation.setMediaFeaturesOverride'

let answers = false

/** Answers what Firefox does not know, so that a page opens. Its pages are light and on a screen, whatever a story asks for. */
function answerForFirefox() {
  if (answers) return
  answers = true
  const socket = ofTheApp('./node_modules/playwright-core/lib/utilsBundle.js').ws.prototype
  const { send } = socket
  socket.send = function (text, ...rest) {
    if (!text.includes(unknown)) return send.call(this, text, ...rest)
    const { id } = JSON.parse(text)
    this.emit('message', Buffer.from(JSON.stringify({ type: 'success', id, result: {} })), false)
  }
}

/** Firefox complains of a font that was on its way when its page was left: NS_BINDING_ABORTED. */
export const leaving = /downloadable font: download failed .* status=2152398850 /

/** No touch screen: the touches of WebDriver are not clicks in Firefox. A phone is a small window here. */
export const untouched = { hasTouch: false, isMobile: undefined }

/** Whoever taps clicks; focus and keys reach the window that they are meant for: Firefox gives them to the one in front. */
export function adapt(page) {
  const locator = Object.getPrototypeOf(page.locator('html'))
  if (locator.tap !== locator.click) {
    locator.tap = locator.click
    const { fill, focus } = locator
    locator.fill = async function (...args) {
      // A field for a number has no selection that would be replaced.
      if ((await this.getAttribute('type')) === 'number') {
        await this.evaluate((field) => {
          field.value = ''
          field.dispatchEvent(new Event('input', { bubbles: true }))
        })
      }
      return fill.apply(this, args)
    }
    locator.focus = async function (...args) {
      await this.page().bringToFront()
      return focus.apply(this, args)
    }
  }
  for (const way of ['press', 'type']) {
    const does = page.keyboard[way].bind(page.keyboard)
    page.keyboard[way] = async (...args) => {
      await page.bringToFront()
      return does(...args)
    }
  }
}
