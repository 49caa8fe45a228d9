import { existsSync } from 'node:fs'
import { ofTheApp } from './ofTheApp.mjs'

/** The browser's executable: FIREFOX, or its path in distributions. */
function findFirefox() {
  const found = process.env.FIREFOX || ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find(existsSync)
  if (!found) throw new Error('there is no Firefox; set FIREFOX to the path of its program')
  return found
}

/**
 * Starts the distribution's Firefox over WebDriver BiDi. Every host name resolves to this machine,
 * so that Firefox reaches no other host.
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
      // Makes Firefox assume a mouse, even if none is connected.
      'ui.primaryPointerCapabilities': 6,
      'ui.allPointerCapabilities': 6,
      // Background pages keep their timers, as if each page had a window of its own.
      'dom.min_background_timeout_value': 4,
      'dom.min_background_timeout_value_without_budget_throttling': 4,
    },
  })
}

/** A command that Playwright sends for every page and that Firefox 153 does not support yet. */
const unknown = 'emulation.setMediaFeaturesOverride'

let answers = false

/**
 * Answers the command that Firefox does not support, so that pages open. The pages are always light
 * and in screen style, whatever a story requests.
 */
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

/** Firefox reports NS_BINDING_ABORTED for a font that was loading when its page was left. */
export const leaving = /downloadable font: download failed .* status=2152398850 /

/**
 * There is no touch screen, since WebDriver touches are not clicks in Firefox. A phone is a small
 * window here.
 */
export const untouched = { hasTouch: false, isMobile: undefined }

/**
 * Makes a tap a click, and empties number fields before they are filled. Before focus and keys, the
 * page is brought to the front, since Firefox sends both to the front window.
 */
export function adapt(page) {
  const locator = Object.getPrototypeOf(page.locator('html'))
  if (locator.tap !== locator.click) {
    locator.tap = locator.click
    const { fill, focus } = locator
    locator.fill = async function (...args) {
      // A number field has no selection to replace.
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
