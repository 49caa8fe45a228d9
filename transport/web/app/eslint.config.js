// Rules that find faults. Prettier formats the code (.prettierrc.json).
// ESLint runs in the parent folder, so that it also checks the browser tests. The environment
// variable in the npm script `lint` lets TypeScript read components as Svelte's parser translates
// them. This halves the run time, because TypeScript otherwise rebuilds its program for every
// component.
import js from '@eslint/js'
import { defineConfig } from 'eslint/config'
import svelte from 'eslint-plugin-svelte'
import globals from 'globals'
import ts from 'typescript-eslint'
import svelteConfig from './svelte.config.js'

const app = import.meta.dirname

export default defineConfig(
  {
    // Installed or generated files.
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
    // Tests pass functions to the browser.
    languageOptions: { globals: { ...globals.node, ...globals.browser } },
  },
  {
    rules: {
      // "_" is the element of a loop that only counts.
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_$', varsIgnorePattern: '^_$' }],
      // Off: state is replaced and never changed in place ($state.raw), so plain collections and dates are correct.
      'svelte/prefer-svelte-reactivity': 'off',
      // Off: the rule interprets the words of the reason after a warning's code as more codes.
      'svelte/no-unused-svelte-ignore': 'off',
      // Off: the compiler drops white space at the edge of a block, and {' '} keeps it.
      'svelte/no-useless-mustaches': 'off',
    },
  },
)
