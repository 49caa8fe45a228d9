import { createRequire } from 'node:module'

/** The app's packages are the only ones here. They are loaded when they are used, which a file whose stories are skipped does not. */
export const ofTheApp = createRequire(new URL('../../app/package.json', import.meta.url))
