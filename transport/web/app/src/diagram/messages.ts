// The messages between the page and the frame in which diagrams are drawn.

export interface Diagram {
  source: string
  dark: boolean
}

/** The result for a diagram. why is the parser's text for a fault, null for none. */
export type Drawing = { svg: string; width: number; height: number; says: string } | { why: string | null }

/** The frame says this once, before it is asked anything. */
export const ready = 'ready'
