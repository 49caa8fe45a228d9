declare module 'virtual:emoji' {
  /** A line for each emoji: it, and its names behind it. */
  const lines: string
  export default lines
}

declare module 'virtual:help' {
  interface HelpPage {
    /** In the address: /help/<id>. */
    id: string
    /** The readers of the page: a group of scripts/handbook.mjs. */
    who: 'attendees' | 'helpers' | 'facilitators' | 'authors' | 'operators' | 'integrators'
    title: string
    /** Its Markdown, without the title. */
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
