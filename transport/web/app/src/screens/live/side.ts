/** What stands beside the floor. */
export type SideTab = 'talk' | 'polls' | 'questions' | 'timer'
