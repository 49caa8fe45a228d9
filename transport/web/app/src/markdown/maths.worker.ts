/// <reference lib="webworker" />
// Parses formulas with KaTeX outside the page, because a malicious formula could block the page.
// The results are MathML trees, which contain only texts and known elements and attributes.
import { serve } from './beside'
import { read } from './mathml'
import type { Formula, Outcome } from './mathml'

export type { Formula, Outcome, Tree } from './mathml'

serve<Formula, Outcome>(read)
