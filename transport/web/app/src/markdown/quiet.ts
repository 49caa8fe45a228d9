// Removes event handlers and styles from an author's raw HTML. A browser that parses them reports a
// violation of the content security policy, even if the sanitiser removes them later. The sanitiser
// still decides what is shown.

const attributes = new Set(
  'alt align checked cite class cols colspan controls datetime dir disabled headers height hidden href id kind label lang loop muted name open poster preload reversed rows rowspan scope span src srclang start summary title type value valign width'.split(
    ' ',
  ),
)

/** Elements that are removed together with their content. */
const whole = new Set('script style iframe object embed noscript template title textarea xmp noembed noframes plaintext math svg'.split(' '))
/** Elements that are removed while their content stays. */
const alone = new Set('base meta link html head body frame frameset param'.split(' '))

const letter = /[a-z]/i
const name = /[a-z][a-z0-9-]*/iy

/**
 * Returns the HTML without comments, unknown attributes, and the elements above. Frames with an
 * http(s) address become links, and incomplete tags become text. An unclosed comment extends to the
 * end. Runs in linear time.
 */
export function quieten(html: string): string {
  let out = ''
  let at = 0
  /** The element whose content is being removed. */
  let skipping = ''
  const say = (text: string) => {
    if (skipping === '') out += text
  }
  for (;;) {
    const open = html.indexOf('<', at)
    say(html.slice(at, open < 0 ? undefined : open))
    if (open < 0) return out
    if (html.startsWith('<!--', open)) {
      const end = html.indexOf('-->', open + 4)
      if (end < 0) return out
      at = end + 3
      continue
    }
    const closing = html[open + 1] === '/'
    const from = open + (closing ? 2 : 1)
    if (!letter.test(html[from] ?? '')) {
      say('&lt;')
      at = open + 1
      continue
    }
    name.lastIndex = from
    const low = name.exec(html)![0].toLowerCase()
    const end = tagEnd(html, from + low.length)
    if (end < 0) {
      // No parser finds a tag in the rest of the text, so the rest becomes text.
      say(html.slice(open).replaceAll('<', '&lt;'))
      return out
    }
    if (skipping !== '') {
      if (closing && low === skipping) skipping = ''
    } else if (whole.has(low)) {
      if (!closing) {
        skipping = low
        if (low === 'iframe') out += framed(html.slice(from + low.length, end))
      }
    } else if (!alone.has(low)) {
      out += closing ? `</${low}>` : `<${low}${kept(html.slice(from + low.length, end))}>`
    }
    at = end + 1
  }
}

/** Returns the end of the tag whose attributes begin at i, or -1 if the tag does not end. */
function tagEnd(html: string, i: number): number {
  for (let quote = ''; i < html.length; i++) {
    const c = html[i]!
    if (quote !== '') {
      if (c === quote) quote = ''
    } else if (c === '>') return i
    else if ((c === '"' || c === "'") && /[=\s]/.test(html[i - 1] ?? '')) quote = c
  }
  return -1
}

/**
 * Converts a frame to a link to its page. The app shows the page in a frame if that is allowed
 * (embeds.ts).
 */
function framed(list: string): string {
  const of = new Map<string, string>()
  for (const [, key, double, single, bare] of list.matchAll(attribute)) {
    if (!of.has(key!.toLowerCase())) of.set(key!.toLowerCase(), (double ?? single ?? bare ?? '').trim())
  }
  const src = of.get('src') ?? ''
  const host = /^https?:\/\/(?:[^/?#@]*@)?([^/?#]+)/i.exec(src)?.[1]
  if (!host) return ''
  const size = ['width', 'height'].filter((key) => /^\d{1,4}$/.test(of.get(key) ?? '')).map((key) => ` ${key}="${of.get(key)!}"`)
  return `<a class="embed"${size.join('')} href="${quoted(src)}">${quoted(of.get('title') || host)}</a>`
}

const quoted = (value: string) => value.replaceAll('"', '&quot;').replaceAll('<', '&lt;')

const attribute = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g

function kept(list: string): string {
  let out = ''
  for (const [, key, double, single, bare] of list.matchAll(attribute)) {
    const attr = key!.toLowerCase()
    if (attributes.has(attr)) out += ` ${attr}="${quoted(double ?? single ?? bare ?? '')}"`
  }
  return out
}
