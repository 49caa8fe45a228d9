// A certificate as an image for social media, drawn from the same parts as the sheet.
import { sitePath } from '../device/place'
import { m } from '../messages/compiled/messages.js'
import { extent, paper, serif, tones, type Certificate } from './look'
import { day } from '../device/moments'
import { fit, lines } from './lines'
import { arcs, thickness } from './seal'

/** The size of the image, and the margin of its content, in pixels. */
const width = 1200
const height = 630
const margin = 72

/** Returns the image as a PNG of 1200 x 630. */
export async function picture(c: Certificate, address: string): Promise<Blob> {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const on = canvas.getContext('2d')
  if (!on) throw new Error('cannot draw the certificate: no 2D canvas')
  const [logo] = await Promise.all([c.logo_url ? load(sitePath(c.logo_url)) : null, document.fonts.load(`400 84px ${serif}`, c.attendee_name)])
  draw(on, c, address, logo)
  return new Promise((resolve, reject) => canvas.toBlob((b) => (b ? resolve(b) : reject(new Error('cannot encode the certificate as PNG'))), 'image/png'))
}

/** Loads the logo. Returns null for an unreadable logo, which is then omitted. */
function load(url: string): Promise<HTMLImageElement | null> {
  return new Promise((resolve) => {
    const image = new Image()
    image.onload = () => resolve(image)
    image.onerror = () => resolve(null)
    image.src = url
  })
}

function draw(on: CanvasRenderingContext2D, c: Certificate, address: string, logo: HTMLImageElement | null) {
  const rtl = document.documentElement.dir === 'rtl'
  const sans = getComputedStyle(document.documentElement).getPropertyValue('--sans') || 'sans-serif'
  const tone = tones[c.accent]
  const seal = arcs(c.shares ?? [])
  const room = seal.length > 0 ? 640 : width - 2 * margin
  const x = (left: number) => (rtl ? width - left : left)
  on.direction = rtl ? 'rtl' : 'ltr'
  on.textAlign = 'start'
  on.textBaseline = 'alphabetic'
  on.fillStyle = paper.ground
  on.fillRect(0, 0, width, height)
  on.fillStyle = tone
  on.fillRect(0, 0, width, 10)

  const write = (text: string, at: number, y: number, font: string, colour: string) => {
    on.font = font
    on.fillStyle = colour
    on.fillText(text, x(at), y)
  }
  const measured = (font: string) => (text: string) => {
    on.font = font
    return on.measureText(text).width
  }
  const block = (text: string, sizes: readonly number[], most: number, weight: number, y: number, colour: string) => {
    const font = (size: number) => `${weight} ${size}px ${serif}`
    const size = fit(sizes, (s) => lines(text, room, most + 1, measured(font(s))).length <= most)
    for (const line of lines(text, room, most, measured(font(size)))) {
      y += Math.round(size * 1.14)
      write(line, margin, y, font(size), colour)
    }
    return y
  }

  let at = margin
  if (logo && logo.naturalWidth > 0 && logo.naturalHeight > 0) {
    const h = 56
    const w = Math.min(200, (h * logo.naturalWidth) / logo.naturalHeight)
    on.drawImage(logo, rtl ? width - at - w : at, 58, w, h)
    at += w + 20
  }
  const [organiser = ''] = lines(c.organiser || m.certificate_kind(), width - margin - at, 1, measured(`600 26px ${sans}`))
  write(organiser, at, 95, `600 26px ${sans}`, paper.ink)

  let y = block(c.attendee_name, [84, 72, 60, 48], 2, 400, 150, paper.ink)
  y += 52
  write(m.certificate_completed(), margin, y, `400 24px ${sans}`, paper.quiet)
  block(c.codelab_title, [44, 38, 32], 2, 500, y + 10, paper.ink)

  on.fillStyle = paper.line
  on.fillRect(margin, 536, width - 2 * margin, 1)
  const facts = [day(c.completed_at), extent(c)].filter((t) => t !== '').join(' · ')
  write(facts, margin, 580, `500 22px ${sans}`, paper.ink)
  const shown = new URL(address).host
  on.textAlign = 'end'
  on.font = `400 20px ${sans}`
  on.fillStyle = paper.quiet
  on.fillText(shown, rtl ? margin : width - margin, 580)

  on.save()
  on.translate(rtl ? 20 : width - 460, 110)
  on.scale(4.9, 4.9)
  on.lineWidth = thickness(seal.length)
  on.lineCap = 'round'
  for (const a of seal) {
    on.strokeStyle = paper.line
    on.globalAlpha = 1
    on.lineWidth = 0.25
    on.beginPath()
    on.arc(40, 40, a.r, 0, 2 * Math.PI)
    on.stroke()
    if (a.to <= a.from) continue
    on.lineWidth = thickness(seal.length)
    on.strokeStyle = tone
    on.globalAlpha = a.opacity
    on.beginPath()
    on.arc(40, 40, a.r, a.from - Math.PI / 2, a.to - Math.PI / 2)
    on.stroke()
  }
  on.restore()
}
