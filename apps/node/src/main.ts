#!/usr/bin/env node
import { isLedgerStateError } from '@ledger-state/core'
import { type Command, helpText, parseCommandInput, table } from './command-line.js'
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
import { usageError } from './option.js'

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

async function main(words: readonly string[]): Promise<void> {
  const { command, rest } = findCommand(words)
  if (!command) {
    const asked = rest.length === 0 || rest[0] === '--help' || rest[0] === '-h' || rest.at(-1) === '--help'
    if (!asked)
      throw usageError(`unknown command ${JSON.stringify(rest.slice(0, 2).join(' '))}; see ledger-state --help`)
    process.stdout.write(overview())
    return
  }
  const input = parseCommandInput(command, rest)
  if (input === 'help') process.stdout.write(helpText(command))
  else await command.run(input)
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

function overview(): string {
  const rows = COMMANDS.map(({ name, arguments: names, summary }) => [
    [name, ...names.map((one) => one.name)].join(' '),
    summary,
  ])
  return `A versioned ledger state: ingests a ledger's writes and answers table items and balances at any kept version.

Usage: ledger-state COMMAND [options]

Commands:
${table(rows)}

ledger-state COMMAND --help tells more.
`
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  // Ours are written for people; anything else is a fault of the program, and its place is what helps.
  const text = isLedgerStateError(error) ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`ledger-state: ${text}\n`)
  process.exitCode = isLedgerStateError(error, 'usage') ? EXIT_USAGE : EXIT_FAILED
}
