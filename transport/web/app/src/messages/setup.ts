// The texts are there before a test begins, as they are before a screen is shown.
import { beforeAll } from 'vitest'
import { ready } from './texts'

beforeAll(ready)
