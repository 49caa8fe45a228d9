// Renders the formulas of a text in the page. A worker parses them (maths.worker.ts), and its
// result becomes MathML elements, with known names only. Loaded only if a text contains formulas.
import { m } from '../messages/compiled/messages.js'
import { Beside, type Helper } from './beside'
import type { Formula, Outcome, Tree } from './maths.worker'

/** The maximum number of formulas per text. The rest stay code. */
const maxFormulas = 300
/** After this number of timeouts the remaining formulas are not tried. */
const maxFailures = 3
/** The maximum number of cached results. An editor renders the same text repeatedly. */
const maxKept = 500

const worker = new Beside<Formula, Outcome>(
  () => new Worker(new URL('./maths.worker.ts', import.meta.url), { type: 'module' }) as unknown as Helper<Formula, Outcome>,
)
const kept = new Map<string, Outcome>()

/**
 * Renders all formulas below root in one step. Returns false if there are none, or if the result is
 * no longer wanted.
 */
export async function setMaths(root: HTMLElement, unwanted: () => boolean): Promise<boolean> {
  const codes = [...root.querySelectorAll<HTMLElement>('code.language-math')].slice(0, maxFormulas)
  const outcomes: Outcome[] = []
  let failures = 0
  for (const code of codes) {
    const formula = formulaOf(code)
    const key = `${formula.display ? '$$' : '$'}${formula.tex}`
    let outcome: Outcome | null | undefined = kept.get(key)
    if (!outcome && failures < maxFailures) {
      outcome = await worker.do(formula)
      if (unwanted()) return false
      if (!outcome) failures++
      else if (kept.size < maxKept) kept.set(key, outcome)
      else kept.clear()
    }
    outcomes.push(outcome ?? { why: null })
  }
  for (const [i, code] of codes.entries()) put(code, outcomes[i]!)
  return codes.length > 0
}

function formulaOf(code: HTMLElement): Formula {
  const text = (code.textContent ?? '').trim()
  const display = code.parentElement?.tagName === 'PRE' || text.startsWith('$$')
  return { tex: text.replace(/^\$\$?`?|`?\$\$?$/g, ''), display }
}

function put(code: HTMLElement, outcome: Outcome) {
  if ('why' in outcome) {
    // The reason is in an attribute, because the text of the page must stay the written text.
    code.dataset.why = outcome.why ? m.maths_wrong({ why: outcome.why }) : m.maths_long()
    return
  }
  const pre = code.parentElement?.tagName === 'PRE' ? code.parentElement : null
  const written = code.textContent ?? ''
  const host = document.createElement(pre ? 'div' : 'span')
  const block = pre !== null || written.startsWith('$$')
  host.className = block ? 'maths block' : 'maths'
  host.dir = 'ltr'
  if (block) host.tabIndex = 0 // a scrolling element must be reachable by keyboard
  host.append(element(outcome.tree, written))
  ;(pre ?? code).replaceWith(host)
}

/** The elements of a formula. */
function element(tree: Tree, written: string): Node {
  if (typeof tree === 'string') return document.createTextNode(tree)
  const node = document.createElementNS('http://www.w3.org/1998/Math/MathML', tree.tag)
  for (const [key, value] of Object.entries(tree.attributes)) node.setAttribute(key, value)
  if (tree.tag === 'annotation') node.textContent = written
  else node.append(...tree.children.map((t) => element(t, written)))
  return node
}
