// Texts by attendees and the AI. A worker renders them one after the other, each with a time limit.
import { Beside, type Helper } from './beside'

export interface Text {
  markdown: string
  top: number
}

/** The maximum length of the HTML, in characters. */
const maxHTML = 1_000_000

/** This page's worker. The HTML that it returns is not sanitised. */
const layout = new Beside<Text, string>(
  () => new Worker(new URL('./foreign.worker.ts', import.meta.url), { type: 'module' }) as unknown as Helper<Text, string>,
)

/** Returns the unsanitised HTML of a text, or null if rendering failed or exceeded a limit. */
export async function lay(markdown: string, top: number): Promise<string | null> {
  const html = await layout.do({ markdown, top })
  return html !== null && html.length <= maxHTML ? html : null
}
