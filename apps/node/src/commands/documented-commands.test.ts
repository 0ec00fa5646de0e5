// Every command in a block `sh` of a page can be given as printed in a checkout: its program is there, and its words
// belong to a command of ours. `check-readme` and other tests run those that need nothing but a checkout.
import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parseCommandInput } from '../config/command-line.js'
import { findCommand } from './all-commands.js'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const SCRIPTS = (JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')) as { scripts: Record<string, string> })
  .scripts
const PAGES = globSync(['*.md', 'docs/**/*.md', 'apps/*/README.md', 'packages/*/README.md', 'examples/**/README.md'], {
  cwd: ROOT,
  exclude: (path) => path.includes('node_modules'),
}).toSorted()

/** Programs of a usual machine, and those that a page installs. */
const PROGRAMS = ['curl', 'gcloud', 'printf', 'install', 'systemctl', '/opt/ledger-state/bin/node', 'npm']

interface Printed {
  readonly page: string
  readonly line: string
}

const commands = PAGES.flatMap((page) => {
  const blocks = readFileSync(`${ROOT}/${page}`, 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)
  return [...blocks].flatMap(([, block]) => {
    const lines = block!.replaceAll('\\\n', ' ').split(/\n(?=\S)/)
    return lines.map((line): Printed => ({ page, line: line.trim().replace(/\s+# .*$/, '') }))
  })
}).filter(({ line }) => line !== '' && !line.startsWith('#'))

/** The words of a shell: a quoted text is one word, without its quotes. */
function wordsOf(command: string): string[] {
  const words = command.replace(/ [<>] ?\S+/g, '').matchAll(/(?:[^\s'"]+|'[^']*'|"[^"]*")+/g)
  return Array.from(words, ([word]) => word.replaceAll(/['"]/g, ''))
}

/** Replaces the parts that a page leaves to its reader. */
function asGiven(word: string): string {
  return word.replace('$(cat waypoint.txt)', `0:${'ab'.repeat(32)}`).replace('…', 'ab'.repeat(30))
}

it('there are pages with commands', () => {
  expect(new Set(commands.map(({ page }) => page)).size).toBeGreaterThan(20)
})

it('the programs of examples are run by the script that installs their packages', () => {
  const pages = PAGES.filter((page) => page.startsWith('examples/'))
  const direct = pages.filter((page) => /\bnode \S+\.ts\b/.test(readFileSync(`${ROOT}/${page}`, 'utf8')))
  expect(direct).toEqual([])
})

describe('a printed command', () => {
  it.each(commands)('$page: $line', async ({ line }) => {
    for (const command of line.split(/ (?:\||&&) /)) {
      const [program, ...words] = wordsOf(command).map(asGiven)
      if (program !== 'npx') {
        expect(PROGRAMS).toContain(program)
        continue
      }
      expect(words.slice(0, 2)).toEqual(['-y', 'pnpm'])
      const [script = '', ...rest] = words.slice(2)
      if (['install', 'exec', '--filter'].includes(script)) continue
      expect(Object.keys(SCRIPTS)).toContain(script)
      if (script !== 'ledger-state' && script !== 'start') continue
      const given = script === 'start' ? ['start', ...rest] : rest
      const found = await findCommand(given)
      if (!found) expect(given).toEqual(['--help'])
      // A file that the reader of the page writes is not here.
      else parseCommandInput(found.command, withoutFiles(found.rest))
    }
  })
})

/** The words without the options that name files of the reader. */
function withoutFiles(words: readonly string[]): string[] {
  return words.filter((word, at) => ![word, words[at - 1]].some((one) => one === '--config' || one === '--only'))
}
