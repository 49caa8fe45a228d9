// Generates models of the messages from /api/asyncapi.json with modelina: interfaces for
// TypeScript, classes for Python.
import { PythonFileGenerator, TypeScriptFileGenerator } from '@asyncapi/modelina'
import { readFile } from 'node:fs/promises'

const document = JSON.parse(await readFile('asyncapi.json', 'utf8'))
const typescript = new TypeScriptFileGenerator({ modelType: 'interface', rawPropertyNames: true })
await typescript.generateToFiles(document, 'typescript', { exportType: 'named' }, true)
await new PythonFileGenerator().generateToFiles(document, 'python/messages', { packageName: 'messages' }, true)
