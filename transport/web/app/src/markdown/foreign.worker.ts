/// <reference lib="webworker" />
// Renders texts of attendees and of the AI outside the page, which they could block.
import { serve } from './beside'
import type { Text } from './foreign'
import { parse } from './parse'

serve<Text, string>(({ markdown, top }) => parse(markdown, top))
