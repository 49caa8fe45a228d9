/// <reference lib="webworker" />
// Reads formulas with KaTeX away from the page, which a hostile one might stop. What
// comes out are trees of MathML: names and attributes that are known, and texts.
import { serve } from './beside'
import { read } from './mathml'
import type { Formula, Outcome } from './mathml'

export type { Formula, Outcome, Tree } from './mathml'

serve<Formula, Outcome>(read)
