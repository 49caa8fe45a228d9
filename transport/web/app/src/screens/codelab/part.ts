import type { SectionId } from './sections'

/** A part of the settings. The save button at the bottom saves all parts. */
export interface Part {
  /** The sections with unsaved changes, one entry per change. */
  changes(): readonly SectionId[]
  /** Saves the changes. After a failure, the changes stay unsaved and the part shows the reason. */
  save(): Promise<void>
  undo(): void
}
