declare module 'virtual:emoji' {
  /** A line for each emoji: it, and its names behind it. */
  const lines: string
  export default lines
}
