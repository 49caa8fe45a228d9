// Loads the texts before a test begins, as the app does before it shows a screen.
import { beforeAll } from 'vitest'
import { ready } from './texts'

beforeAll(ready)
