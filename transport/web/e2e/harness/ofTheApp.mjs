import { createRequire } from 'node:module'

/**
 * Loads the app's packages, because the stories have none of their own. A package is loaded when it
 * is used, so a file with only skipped stories does not need it.
 */
export const ofTheApp = createRequire(new URL('../../app/package.json', import.meta.url))
