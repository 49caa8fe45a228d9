// Generates the types of requests, responses and messages from the server's two documents. If a
// field is renamed on the server, the app does not compile until it uses the new name.
import { readFile, writeFile } from 'node:fs/promises'
import openapiTS, { astToString } from 'openapi-typescript'

const here = new URL('.', import.meta.url)
const transport = new URL('../../../', here)
const read = async (name) => JSON.parse(await readFile(new URL(name, transport), 'utf8'))
const head = '// Made by scripts/types.mjs. Do not edit.\n'

async function write(path, document, more = '') {
  const target = new URL(path, here)
  const text = head + astToString(await openapiTS(document)) + more
  const old = await readFile(target, 'utf8').catch(() => '')
  if (old !== text) await writeFile(target, text)
}

await write('../src/api/schema.d.ts', await read('rest/openapi.json'))

// The schemas of the messages are JSON Schema, as in an OpenAPI document. The same tool can
// therefore convert them, as part of an OpenAPI document without paths.
const messages = await read('messages/asyncapi.json')
const info = { title: messages.info.title, version: messages.info.version }
const document = { openapi: '3.1.0', info, paths: {}, components: { schemas: messages.components.schemas } }
const heard = messages.operations.hear.messages.map(({ $ref }) => `\n  | components['schemas']['${$ref.split('/').pop()}']`)
await write('../src/live/messages.d.ts', document, `/** A message from the server. */\nexport type ServerMessage =${heard.join('')}\n`)
