import { parseArgs } from 'node:util'
import { didYouMean } from '@ledger-state/core'
import { seeHelp, usage, usageError } from '../errors.js'
import { type Command, type CommandInput, optionsOf, type RereadInput } from './command.js'
import { type Configuration, effectiveConfiguration, readConfiguration } from './configuration.js'
import { type DefaultedOption, type Option, parseAs } from './option.js'
import { configOption } from './settings.js'

/**
 * Parses the words after the command's name.
 * @throws `usage`
 */
export function parseCommandInput(command: Command, words: readonly string[]): CommandInput | 'help' {
  if (words.includes('--help') || words.includes('-h')) return 'help'
  const { values, positionals } = parseWords(command, words)

  const named = command.arguments.filter(({ isRest }) => !isRest)
  const missing = named[positionals.length]
  if (missing) throw usageError(`${command.name}: ${missing.name} is missing (${missing.description})`)
  const surplus = named.length === command.arguments.length ? positionals[named.length] : undefined
  if (surplus !== undefined) throw usageError(`${command.name}: unexpected argument ${JSON.stringify(surplus)}`)

  const file = values[configOption.name] as string | undefined
  const input = new ParsedInput(command, values, positionals, () => readConfiguration(file, process.env))
  for (const required of command.required ?? []) input.required(required)
  return input
}

class ParsedInput implements CommandInput {
  readonly #command: Command
  readonly #values: Readonly<Record<string, string | boolean | undefined>>
  readonly #positionals: readonly string[]
  readonly #readConfiguration: () => Configuration
  readonly #configuration: Configuration

  constructor(
    command: Command,
    values: Readonly<Record<string, string | boolean | undefined>>,
    positionals: readonly string[],
    readConfiguration: () => Configuration,
    configuration = readConfiguration(),
  ) {
    this.#command = command
    this.#values = values
    this.#positionals = positionals
    this.#readConfiguration = readConfiguration
    this.#configuration = configuration
    for (const option of command.options) this.get(option)
  }

  argument(name: string): string {
    return this.#positionals[this.#command.arguments.findIndex((argument) => argument.name === name)]!
  }

  rest(): readonly string[] {
    return this.#positionals.slice(this.#command.arguments.filter(({ isRest }) => !isRest).length)
  }

  get<T>(option: DefaultedOption<T>): T
  get<T>(option: Option<T>): T | undefined
  get<T>(option: Option<T>): T | undefined {
    const value = this.#values[option.name]
    if (value !== undefined) return parseAs(`--${option.name}`, String(value), option.parse)
    const given = this.#configuration.get(option)
    if (given) return parseAs(given.place, given.text, option.parse)
    return option.fallback === undefined ? undefined : option.parse(option.fallback)
  }

  required<T>(option: Option<T>): T {
    const value = this.get(option)
    if (value === undefined) throw usage.missingOption(this.#command.name, option)
    return value
  }

  reread(): RereadInput {
    const later = this.#readConfiguration()
    const kept = [...this.#configuration].filter(([{ appliesAtOnce }]) => !appliesAtOnce)
    const changed = [...later].filter(([{ appliesAtOnce }]) => appliesAtOnce)
    return { all: this.#with(later), atOnce: this.#with(new Map([...kept, ...changed])) }
  }

  #with(configuration: Configuration): CommandInput {
    return new ParsedInput(this.#command, this.#values, this.#positionals, this.#readConfiguration, configuration)
  }

  effective(): Record<string, string | number | boolean> {
    const words = this.#command.options.flatMap((option) => {
      const value = this.#values[option.name]
      return value === undefined ? [] : [[option, { text: String(value), place: `--${option.name}` }] as const]
    })
    return effectiveConfiguration(new Map([...this.#configuration, ...words]))
  }
}

function parseWords(command: Command, words: readonly string[]) {
  const all = optionsOf(command)
  const options = Object.fromEntries(
    all.map(({ name, value, isList = false }) => {
      const type = value === undefined ? ('boolean' as const) : ('string' as const)
      return [name, { type, multiple: isList }]
    }),
  )
  const args = joinValues(all, words)
  const lacking = lackingValue(all, args)
  if (lacking) throw usageError(`${command.name}: --${lacking.name} is missing its ${lacking.value}`)
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true, allowNegative: true })
    // Joins the values of a list into one text.
    const texts = Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value.join() : value])
    return { values: Object.fromEntries(texts) as Readonly<Record<string, string | boolean | undefined>>, positionals }
  } catch (error) {
    // Cuts off the advice about positional arguments that Node appends, which fits none of our commands.
    const [why] = (error as Error).message.split(/\. To specify|\n/)
    const hint = nearestOption(all, why!) ?? hyphenHint(why!, command) ?? ''
    throw usageError(
      `${command.name}: ${why!.replace(/\.$/, '')}${seeHelp(hint, `ledger-state ${command.name} --help`)}`,
    )
  }
}

/** Options by the names that they have over HTTP, or in other programs. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  data: 'data-dir',
  database: 'store',
  db: 'data-dir',
  dir: 'data-dir',
  host: 'listen',
  ledgertimestamp: 'at',
  ledgerversion: 'version',
  port: 'listen',
  salt: 'hash-salt',
  time: 'at',
  timestamp: 'at',
}

/** Ending of a message about an unknown option: the known option that was probably meant. */
function nearestOption(options: readonly Option<unknown>[], message: string): string | undefined {
  const [, unknown] = /^Unknown option '--([^']+)'/.exec(message) ?? []
  if (unknown === undefined) return undefined
  const names = options.map(({ name }) => name)
  const other = OTHER_NAMES[unknown.replaceAll(/[-_]/g, '')]
  const meant = other !== undefined && names.includes(other) ? other : unknown
  return didYouMean(meant, names, (nearest) => `--${nearest}`)
}

/** Ending of a message about an argument, such as a negative number, that was read as an option. */
function hyphenHint(message: string, command: Command): string | undefined {
  const [, unknown] = /^Unknown option '(-[^-][^']*)'/.exec(message) ?? []
  const isArgument = unknown !== undefined && command.arguments.length > 0
  return isArgument ? `; if it is an argument, put -- before it, after all options: -- ${unknown}` : undefined
}

/** Turns `--version -1` into `--version=-1`, because a negative number is the value of the option before it. */
function joinValues(options: readonly Option<unknown>[], words: readonly string[]): string[] {
  const joined: string[] = []
  for (const word of words) {
    const isNegative = /^-\d/.test(word) && takingValue(options, joined.at(-1)) !== undefined
    joined.push(isNegative ? `${joined.pop()}=${word}` : word)
  }
  return joined
}

/** The first option without a value: nothing or another option follows it. */
function lackingValue(options: readonly Option<unknown>[], words: readonly string[]): Option<unknown> | undefined {
  const at = words.findIndex((word, index) => {
    const next = words[index + 1]
    return takingValue(options, word) !== undefined && (next === undefined || /^--?[a-z]/.test(next))
  })
  return takingValue(options, words[at])
}

function takingValue(options: readonly Option<unknown>[], word: string | undefined): Option<unknown> | undefined {
  return options.find(({ name, value }) => value !== undefined && word === `--${name}`)
}
