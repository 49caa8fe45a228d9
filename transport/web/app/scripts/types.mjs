// Makes the types of what crosses the wire from the server's two documents, so
// that a field that is renamed there does not compile here.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const here = new URL('.', import.meta.url)
const documents = new URL('../../../rest/', here)
const read = async (name) => JSON.parse(await readFile(new URL(name, documents), 'utf8'))
const head = '// Made by scripts/types.mjs. Do not edit.\n'

async function write(path, document) {
  const target = new URL(path, here)
  const text = head + astToString(await openapiTS(document))
  const old = await readFile(target, 'utf8').catch(() => '')
  if (old !== text) await writeFile(target, text)
}

await write('../src/api/schema.d.ts', await read('openapi.json'))

// The schemas of the messages are JSON Schema as OpenAPI has them; in its
// clothes the same tool takes them.
const messages = await read('asyncapi.json')
const info = { title: messages.info.title, version: messages.info.version }
await write('../src/live/messages.d.ts', { openapi: '3.1.0', info, paths: {}, components: { schemas: messages.components.schemas } })
