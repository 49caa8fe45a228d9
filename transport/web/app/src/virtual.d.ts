declare module 'virtual:emoji' {
  /** One line per emoji: the emoji, then its names. */
  const lines: string
  export default lines
}

declare module 'virtual:help' {
  interface HelpPage {
    /** The last segment of the address: /help/<id>. */
    id: string
    /** The readers of the page: a group of scripts/handbook.mjs. */
    who: 'attendees' | 'helpers' | 'facilitators' | 'authors' | 'operators' | 'integrators'
    title: string
    /** The Markdown, without the title. */
    load: () => Promise<{ default: string }>
  }
  const pages: readonly HelpPage[]
  export default pages
}

declare module 'virtual:help/sections' {
  /** A section of a page: its id is "<page>#<fragment>". */
  const sections: readonly { id: string; page: string; heading: string; text: string }[]
  export default sections
}
