/// <reference lib="webworker" />
// Renders texts by attendees and the AI outside the page, so that they cannot block it.
import { serve } from './beside'
import type { Text } from './foreign'
import { parse } from './parse'

serve<Text, string>(({ markdown, top }) => parse(markdown, top))
