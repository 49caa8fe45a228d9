// The frame that draws diagrams. The frame is a separate document in a sandbox, without an origin,
// a network connection or access to the page. It returns the SVG as text, and the page shows this
// text only as an image.
import mermaid from 'mermaid'
import type { Answer, Ask } from '../markdown/beside'
import { ready, type Diagram, type Drawing } from './messages'

const font = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Arial, sans-serif'

/** The colours of the page (styles/tokens.css). */
const day = {
  darkMode: false,
  background: '#fbfaf7',
  primaryColor: '#ffffff',
  primaryTextColor: '#1c1f26',
  primaryBorderColor: '#5a606b',
  secondaryColor: '#e6eefa',
  tertiaryColor: '#f1eee7',
  lineColor: '#5a606b',
  textColor: '#1c1f26',
  titleColor: '#1c1f26',
  edgeLabelBackground: '#fbfaf7',
}
const night = {
  darkMode: true,
  background: '#14161a',
  primaryColor: '#1b1e24',
  primaryTextColor: '#e8e6e1',
  primaryBorderColor: '#a3a8b3',
  secondaryColor: '#1e2a40',
  tertiaryColor: '#23272f',
  lineColor: '#a3a8b3',
  textColor: '#e8e6e1',
  titleColor: '#e8e6e1',
  edgeLabelBackground: '#14161a',
}

function configure(dark: boolean) {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    suppressErrorRendering: true,
    // Labels are SVG text, because not every browser draws HTML elements in an SVG image.
    htmlLabels: false,
    look: 'classic',
    theme: 'base',
    fontFamily: font,
    themeVariables: { fontFamily: font, ...(dark ? night : day) },
    // The other layout is left out of the build, because it is as large as the rest of the code
    // combined (vite.diagram.config.ts).
    layout: 'dagre',
    secure: ['secure', 'securityLevel', 'startOnLoad', 'maxTextSize', 'maxEdges', 'suppressErrorRendering', 'htmlLabels', 'layout'],
    deterministicIds: true,
  })
}

/** The line that declares the kind of a diagram. */
function kindOf(source: string): string {
  const text = source.replace(/^\s*---\n[^]*?\n---[ \t]*\n/, '')
  return (
    text
      .split('\n')
      .map((l) => l.trim())
      .find((l) => l !== '' && !l.startsWith('%%')) ?? ''
  )
}

const seen = new Set<string>()

/** Diagram kinds that load their layout with the first drawing, not with the parser. */
const laidOut = /^(?:flowchart|graph|state|class|er|requirement|mindmap|usecase|swimlane)/i

/**
 * Preloads the parser and layout of a kind by parsing or drawing an empty diagram, so that loading
 * does not count towards a diagram's time limit.
 */
async function warm(source: string) {
  const kind = kindOf(source).slice(0, 60)
  if (seen.has(kind)) return
  seen.add(kind)
  await (laidOut.test(kind) ? mermaid.render('warm', kind) : mermaid.parse(kind)).catch(() => {})
}

async function draw({ source }: Diagram): Promise<Drawing> {
  try {
    const { svg } = await mermaid.render('diagram', source)
    const element = new DOMParser().parseFromString(svg, 'text/html').querySelector('svg')!
    const [width, height] = sizeOf(element)
    element.setAttribute('width', String(width))
    element.setAttribute('height', String(height))
    const says = ['title', 'desc'].map((name) => element.querySelector(`:scope > ${name}`)?.textContent.trim() ?? '')
    return { svg: new XMLSerializer().serializeToString(element), width, height, says: says.filter(Boolean).join(': ') }
  } catch (e) {
    return { why: e instanceof Error ? e.message : null }
  }
}

function sizeOf(svg: SVGSVGElement): [width: number, height: number] {
  const { width, height } = svg.viewBox.baseVal
  if (width > 0 && height > 0) return [Math.ceil(width), Math.ceil(height)]
  return [parseFloat(svg.getAttribute('width') ?? '') || 600, parseFloat(svg.getAttribute('height') ?? '') || 400]
}

addEventListener('message', (e: MessageEvent<Ask<Diagram>>) => {
  if (e.source !== parent) return
  const { id, task } = e.data
  const answer = (a: Answer<Drawing>) => parent.postMessage(a, '*')
  void (async () => {
    configure(task.dark)
    await warm(task.source)
    answer({ id, begun: true })
    answer({ id, result: await draw(task) })
  })()
})
parent.postMessage(ready, '*')
