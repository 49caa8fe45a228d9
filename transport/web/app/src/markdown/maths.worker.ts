/// <reference lib="webworker" />
// Parses formulas with KaTeX outside the page, since a malicious formula could block it. The
// results are trees of MathML with known names and attributes, and texts.
import { serve } from './beside'
import { read } from './mathml'
import type { Formula, Outcome } from './mathml'

export type { Formula, Outcome, Tree } from './mathml'

serve<Formula, Outcome>(read)
