import { readFileSync } from 'node:fs'
import { didYouMean, type LedgerStateError } from '@ledger-state/core'
import type { Command, CommandInput } from '../config/command.js'
import { parseCommandInput } from '../config/command-line.js'
import { helpText, usageOf } from '../config/help-text.js'
import { settings } from '../config/settings.js'
import { seeHelp, usageError, withAdvice } from '../errors.js'
import { writeJsonLines } from '../terminal/json-lines.js'
import type { OutputWatch } from '../terminal/output-watch.js'
import { definitions, outputWidth } from '../terminal/wrap.js'
import { COMMAND_NAMES, findCommand, loadAllCommands } from './all-commands.js'

const HELP_WORDS = ['--help', '-h', 'help']
const VERSION_WORDS = ['--version', '-V', '-v', 'version']

/**
 * Runs the command in the words after the program's name.
 * @throws `usage`, and the errors of the command
 */
export async function runCommandLine(words: readonly string[], output: Pick<OutputWatch, 'goOn'>): Promise<void> {
  const [first, ...others] = words
  const asksForHelp = first !== undefined && isHelpWord(first)
  const found = await findCommand(asksForHelp ? others : words)
  if (found) {
    const input = asksForHelp ? 'help' : parseCommandInput(found.command, found.rest)
    if (input === 'help') process.stdout.write(helpText(found.command, outputWidth()))
    else {
      if (found.command.goesOn) output.goOn()
      if (logsInJson(found.command, input)) writeJsonLines(process.stderr)
      await found.command.run(input).catch((error: unknown) => {
        throw withAdvice(error, found.command)
      })
    }
  } else if (VERSION_WORDS.includes(first!)) {
    process.stdout.write(`ledger-state ${programVersion()}\n`)
  } else if (isAboutCommands(asksForHelp ? others : words, asksForHelp || others.some(isHelpWord))) {
    process.stdout.write(overview(await loadAllCommands(), asksForHelp ? others[0] : first))
  } else {
    throw unknownCommand(asksForHelp ? others : words)
  }
}

function isHelpWord(word: string): boolean {
  return HELP_WORDS.includes(word)
}

function logsInJson({ options }: Command, input: CommandInput): boolean {
  return options.includes(settings.logFormat) && input.get(settings.logFormat) === 'json'
}

/** Whether the words ask for all commands, or for those that begin with a word, such as `get`. */
function isAboutCommands([first, ...others]: readonly string[], asksForHelp: boolean): boolean {
  return first === undefined || (beginsCommands(first) && (asksForHelp || others.length === 0))
}

function beginsCommands(word: string): boolean {
  return COMMAND_NAMES.some((name) => name.startsWith(`${word} `))
}

function unknownCommand([first, second]: readonly string[]): LedgerStateError {
  const both = second === undefined || second.startsWith('-') ? first! : `${first} ${second}`
  const help = `ledger-state ${beginsCommands(first!) ? `${first} ` : ''}--help`
  if (beginsCommands(both)) return usageError(`"${both}" is the first word of several commands; see ${help}`)
  const hint = [both, first!].map((name) => didYouMean(name, COMMAND_NAMES, JSON.stringify)).find((one) => one !== '')
  return usageError(`unknown command ${JSON.stringify(both)}${seeHelp(hint ?? '', help)}`)
}

function programVersion(): string {
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return `${manifest.version} (Node ${process.version})`
}

/** List of all commands, or of the commands that begin with a word. */
function overview(commands: readonly Command[], word: string | undefined): string {
  const ofWord = commands.filter(({ name }) => name.startsWith(`${word} `))
  const rows = (ofWord.length > 0 ? ofWord : commands).map((command) => [usageOf(command), command.summary] as const)
  return `A versioned ledger state: ingests a ledger's writes and serves the state at any kept version, over HTTP and on the command line.

Usage: ledger-state COMMAND [options]

Commands:
${definitions(rows, outputWidth())}

ledger-state COMMAND --help explains a command; ledger-state --version prints the version of the program.
`
}
