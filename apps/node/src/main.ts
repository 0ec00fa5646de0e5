#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { isLedgerStateError } from '@ledger-state/core'
import { checkCommand } from './commands/check.js'
import { configCommand } from './commands/config.js'
import { exportCommand } from './commands/export.js'
import { getBalanceCommand, getRawItemCommand, getTableItemCommand } from './commands/get.js'
import { infoCommand } from './commands/info.js'
import { ingestCommand } from './commands/ingest.js'
import { pruneCommand } from './commands/prune.js'
import { serveCommand } from './commands/serve.js'
import { snapshotCommand } from './commands/snapshot.js'
import { startCommand } from './commands/start.js'
import type { Command } from './config/command.js'
import { parseCommandInput } from './config/command-line.js'
import { helpText } from './config/help-text.js'
import { usageError } from './errors.js'
import { table } from './terminal/table.js'

const COMMANDS: readonly Command[] = [
  startCommand,
  ingestCommand,
  serveCommand,
  infoCommand,
  getTableItemCommand,
  getRawItemCommand,
  getBalanceCommand,
  pruneCommand,
  checkCommand,
  snapshotCommand,
  exportCommand,
  configCommand,
]

const EXIT_FAILED = 1
const EXIT_USAGE = 2
/** As a shell tells of a process that a signal ended. */
const EXIT_SIGNAL = 128

const HELP_WORDS = ['--help', '-h', 'help']
const VERSION_WORDS = ['--version', '-V']

async function main(words: readonly string[]): Promise<void> {
  const [first, ...others] = words
  const asksForHelp = HELP_WORDS.includes(first!)
  const { command, rest } = findCommand(asksForHelp ? others : words)
  if (command) {
    const input = asksForHelp ? 'help' : parseCommandInput(command, rest)
    if (input === 'help') process.stdout.write(helpText(command))
    else await command.run(input)
  } else if (VERSION_WORDS.includes(first!)) {
    process.stdout.write(`ledger-state ${programVersion()}\n`)
  } else if (first === undefined || words.some((word) => HELP_WORDS.includes(word))) {
    process.stdout.write(overview(first))
  } else {
    throw usageError(`unknown command ${JSON.stringify(words.slice(0, 2).join(' '))}; see ledger-state --help`)
  }
}

/** Commands are named by one word or two. */
function findCommand(words: readonly string[]): { command?: Command | undefined; rest: readonly string[] } {
  for (const length of [2, 1]) {
    const name = words.slice(0, length).join(' ')
    const command = COMMANDS.find((candidate) => candidate.name === name)
    if (command) return { command, rest: words.slice(length) }
  }
  return { rest: words }
}

function programVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return `${manifest.version} (Node ${process.version})`
}

/** All commands, or those that begin with a word. */
function overview(word: string | undefined): string {
  const ofWord = COMMANDS.filter(({ name }) => name.startsWith(`${word} `))
  const rows = (ofWord.length > 0 ? ofWord : COMMANDS).map(({ name, arguments: names, summary }) => [
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
