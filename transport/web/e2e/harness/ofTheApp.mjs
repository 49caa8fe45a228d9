import { createRequire } from 'node:module'

/**
 * Only the app's packages are available here. They are loaded on use, so a file with only skipped
 * stories does not need them.
 */
export const ofTheApp = createRequire(new URL('../../app/package.json', import.meta.url))
