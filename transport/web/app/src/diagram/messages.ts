// The messages between the page and the frame in which diagrams are drawn.

export interface Diagram {
  source: string
  dark: boolean
}

/**
 * The result for a diagram: the drawing, or the reason for a failure. width and height are in
 * pixels. says is the diagram's title and description, or "" without them. why is the error message
 * of the parser or of the drawing, or null if there is none.
 */
export type Drawing = { svg: string; width: number; height: number; says: string } | { why: string | null }

/** The message that the frame sends once, before it receives any request. */
export const ready = 'ready'
