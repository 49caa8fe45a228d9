/// <reference lib="webworker" />
// Lays out texts of attendees and of the AI away from the page, which they might
// stop.
import { serve } from './beside'
import type { Text } from './foreign'
import { parse } from './parse'

serve<Text, string>(({ markdown, top }) => parse(markdown, top))
