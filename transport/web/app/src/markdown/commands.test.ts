import { expect, test } from 'vitest'
import { commandsOf, linesOf } from './commands'

test.each([
  ['console', '$ go run .\nworker 2 took job 1\nworker 0 took job 2', ['go run .']],
  ['console', '# apt install go\nReading …\n$ go version', ['apt install go', 'go version']],
  ['bash', '# a comment\nls', null],
  ['bash', '$ ls\n# a comment', ['ls']],
  ['sh', '$ go build \\\n    -o bin/x .\nok', ['go build \\\n    -o bin/x .']],
  ['sh', '$ go build \\\n>   -o x\nok', ['go build \\\n  -o x']],
  ['sh', '$ echo a\\\\\nb', ['echo a\\\\']],
  ['powershell', 'PS C:\\work> dir\n> dir', ['dir', 'dir']],
  ['console', 'go run .', null],
  ['go', '$ not a shell', null],
  ['', '$ go', null],
  ['console', '', null],
  ['console', '$PATH', null],
])('%s %j has the commands %j', (language, text, want) => {
  expect(commandsOf(language, text)).toEqual(want)
})

test.each([
  ['console', '$ go run .\nworker 1\nworker 2\n', ['$ ', '+go run .\n', 'worker 1\nworker 2\n']],
  ['console', '$ a\n$ b', ['$ ', '+a\n', '$ ', '+b']],
  ['sh', '$ go build \\\n>   -o x\nok', ['$ ', '+go build \\\n', '> ', '+  -o x\n', 'ok']],
  ['sh', '$ go build \\\n  -o x', ['$ ', '+go build \\\n  -o x']],
])('%s %j has typed parts, marked with +: %j', (language, text, want) => {
  const lines = linesOf(language, text)
  expect(lines.map((l) => (l.typed ? '+' : '') + l.text)).toEqual(want)
  expect(lines.map((l) => l.text).join('')).toBe(text)
})
