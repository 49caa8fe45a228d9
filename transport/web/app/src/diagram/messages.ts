// What the page and the frame in which diagrams are drawn say to each other.

export interface Diagram {
  source: string
  dark: boolean
}

/** What came of a diagram. why is the parser's word for a fault, null for none. */
export type Drawing = { svg: string; width: number; height: number; says: string } | { why: string | null }

/** The frame says this once, before it is asked anything. */
export const ready = 'ready'
