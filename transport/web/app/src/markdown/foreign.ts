// Texts of attendees and of the AI. A worker lays them out, one after the other, and
// each has limited time.
import { Beside, type Helper } from './beside'

export interface Text {
  markdown: string
  top: number
}

/** Longer HTML is not shown, in characters. */
const mostHTML = 1_000_000

/** The one of this page. Its HTML is not sanitised. */
const layout = new Beside<Text, string>(
  () => new Worker(new URL('./foreign.worker.ts', import.meta.url), { type: 'module' }) as unknown as Helper<Text, string>,
)

/** Gives the HTML of a text, which is not sanitised; null when it takes too long. */
export async function lay(markdown: string, top: number): Promise<string | null> {
  const html = await layout.do({ markdown, top })
  return html !== null && html.length <= mostHTML ? html : null
}
