// Rules that find faults; how the code looks is Prettier's (.prettierrc.json).
// It runs in the folder above, so that it covers the tests in a browser too. The variable in
// its command lets TypeScript read components as the parser of Svelte translates them. That
// halves its time: otherwise TypeScript makes its program again for every component.
import js from '@eslint/js'
import { defineConfig } from 'eslint/config'
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

const app = import.meta.dirname

export default defineConfig(
  {
    // Made by npm run generate.
    ignores: ['app/node_modules', 'app/src/api/schema.d.ts', 'app/src/live/messages.d.ts', 'app/src/messages/compiled', 'built', 'e2e/out'],
  },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  ts.configs.recommended,
  svelte.configs.recommended,
  {
    files: ['app/src/**/*.ts', 'app/src/**/*.svelte'],
    languageOptions: {
      globals: globals.browser,
      parserOptions: { projectService: true, tsconfigRootDir: app, extraFileExtensions: ['.svelte'] },
    },
    rules: {
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'error',
    },
  },
  {
    files: ['app/src/**/*.svelte', 'app/src/**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    files: ['app/*.js', 'app/scripts/**/*.mjs', 'e2e/**/*.mjs'],
    // A test hands functions to the browser.
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
  {
    rules: {
      // "_" is the element of a loop that only counts.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_$', varsIgnorePattern: '^_$' }],
      // Off: state is replaced and never changed in place ($state.raw), so plain collections and dates are meant.
      'svelte/prefer-svelte-reactivity': 'off',
      // Off: it takes the words of the reason behind a code for further codes.
      'svelte/no-unused-svelte-ignore': 'off',
      // Off: the compiler drops white space at the edge of a block, and {' '} keeps it.
      'svelte/no-useless-mustaches': 'off',
    },
  },
)
