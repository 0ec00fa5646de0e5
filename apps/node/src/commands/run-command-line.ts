import { readFileSync } from 'node:fs'
import { didYouMean, type LedgerStateError } from '@ledger-state/core'
import type { Command, CommandInput } from '../config/command.js'
import { parseCommandInput } from '../config/command-line.js'
import { helpText } from '../config/help-text.js'
import { settings } from '../config/settings.js'
import { usageError } from '../errors.js'
import { writeJsonLines } from '../terminal/json-lines.js'
import type { OutputWatch } from '../terminal/output-watch.js'
import { definitions, outputWidth } from '../terminal/wrap.js'
import { COMMAND_NAMES, findCommand, loadAllCommands } from './all-commands.js'

const HELP_WORDS = ['--help', '-h', 'help']
const VERSION_WORDS = ['--version', '-V']

/**
 * Runs the command in the words after the program's name.
 * @throws `usage`, and the errors of the command
 */
export async function runCommandLine(words: readonly string[], output: Pick<OutputWatch, 'goOn'>): Promise<void> {
  const [first, ...others] = words
  const asksForHelp = HELP_WORDS.includes(first!)
  const found = await findCommand(asksForHelp ? others : words)
  if (found) {
    const input = asksForHelp ? 'help' : parseCommandInput(found.command, found.rest)
    if (input === 'help') process.stdout.write(helpText(found.command, outputWidth()))
    else {
      if (found.command.goesOn) output.goOn()
      if (logsInJson(found.command, input)) writeJsonLines(process.stderr)
      await found.command.run(input)
    }
  } else if (VERSION_WORDS.includes(first!)) {
    process.stdout.write(`ledger-state ${programVersion()}\n`)
  } else if (first === undefined || words.some((word) => HELP_WORDS.includes(word)) || isFirstWordOfCommands(words)) {
    process.stdout.write(overview(await loadAllCommands(), asksForHelp ? others[0] : first))
  } else {
    throw unknownCommand(words)
  }
}

function logsInJson({ options }: Command, input: CommandInput): boolean {
  return options.includes(settings.logFormat) && input.get(settings.logFormat) === 'json'
}

/** Whether the words are a single one, such as `get`, with which several commands begin. */
function isFirstWordOfCommands([first, ...others]: readonly string[]): boolean {
  return others.length === 0 && COMMAND_NAMES.some((name) => name.startsWith(`${first} `))
}

function unknownCommand([first, second]: readonly string[]): LedgerStateError {
  const both = second === undefined || second.startsWith('-') ? first! : `${first} ${second}`
  const hint = [both, first!].map((name) => didYouMean(name, COMMAND_NAMES, JSON.stringify)).find((one) => one !== '')
  return usageError(`unknown command ${JSON.stringify(both)}${hint ?? ''}; see ledger-state --help`)
}

function programVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return `${manifest.version} (Node ${process.version})`
}

/** List of all commands, or of the commands that begin with a word. */
function overview(commands: readonly Command[], word: string | undefined): string {
  const ofWord = commands.filter(({ name }) => name.startsWith(`${word} `))
  const rows = (ofWord.length > 0 ? ofWord : commands).map(
    ({ name, arguments: names, summary }) => [[name, ...names.map((one) => one.name)].join(' '), summary] as const,
  )
  return `A versioned ledger state: ingests a ledger's writes and serves the state at any kept version, over HTTP and here.

Usage: ledger-state COMMAND [options]

Commands:
${definitions(rows, outputWidth())}

ledger-state COMMAND --help explains a command; ledger-state --version prints the version of the program.
`
}
