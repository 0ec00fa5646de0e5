#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { isLedgerStateError } from '@ledger-state/core'
import { findCommand, loadAllCommands } from './commands/all-commands.js'
import type { Command } from './config/command.js'
import { parseCommandInput } from './config/command-line.js'
import { helpText } from './config/help-text.js'
import { usageError } from './errors.js'
import { table } from './terminal/table.js'

const EXIT_FAILED = 1
const EXIT_USAGE = 2
/** A shell adds the number of the signal that ended a process. */
const EXIT_SIGNAL = 128

const HELP_WORDS = ['--help', '-h', 'help']
const VERSION_WORDS = ['--version', '-V']

async function main(words: readonly string[]): Promise<void> {
  const [first, ...others] = words
  const asksForHelp = HELP_WORDS.includes(first!)
  const found = await findCommand(asksForHelp ? others : words)
  if (found) {
    const input = asksForHelp ? 'help' : parseCommandInput(found.command, found.rest)
    if (input === 'help') process.stdout.write(helpText(found.command))
    else await found.command.run(input)
  } else if (VERSION_WORDS.includes(first!)) {
    process.stdout.write(`ledger-state ${programVersion()}\n`)
  } else if (first === undefined || words.some((word) => HELP_WORDS.includes(word))) {
    process.stdout.write(overview(await loadAllCommands(), asksForHelp ? others[0] : first))
  } else {
    throw usageError(`unknown command ${JSON.stringify(words.slice(0, 2).join(' '))}; see ledger-state --help`)
  }
}

function programVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return `${manifest.version} (Node ${process.version})`
}

/** All commands, or those whose name begins with a word. */
function overview(commands: readonly Command[], word: string | undefined): string {
  const ofWord = commands.filter(({ name }) => name.startsWith(`${word} `))
  const rows = (ofWord.length > 0 ? ofWord : commands).map(({ name, arguments: names, summary }) => [
    [name, ...names.map((one) => one.name)].join(' '),
    summary,
  ])
  return `A versioned ledger state: ingests a ledger's writes and answers table items and balances at any kept version.

Usage: ledger-state COMMAND [options]

Commands:
${table(rows)}

ledger-state COMMAND --help explains a command; ledger-state --version prints the version of the program.
`
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  // Ours are written for people; anything else is a fault of the program, and its place is what helps.
  const text = isLedgerStateError(error) ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`ledger-state: ${text}\n`)
  process.exitCode = exitStatus(error)
}

function exitStatus(error: unknown): number {
  if (isLedgerStateError(error, 'usage')) return EXIT_USAGE
  if (isLedgerStateError(error, 'stopped'))
    return EXIT_SIGNAL + constants.signals[error.fields.signal as NodeJS.Signals]
  return EXIT_FAILED
}
