import { parseArgs } from 'node:util'
import { type Configuration, effectiveConfiguration, readConfiguration } from './config/configuration.js'
import { configOption } from './config/settings.js'
import { type DefaultedOption, type Option, parseAs, switchOption, usageError } from './option.js'

interface ArgumentDefinition {
  readonly name: string
  readonly description: string
}

export interface Command {
  readonly name: string
  /** A line. */
  readonly summary: string
  /** What more its help says. */
  readonly details?: string
  readonly arguments: readonly ArgumentDefinition[]
  readonly options: readonly Option<unknown>[]
  /** Those of `options` without which there is nothing to do. */
  readonly required?: readonly Option<unknown>[]
  readonly examples: readonly string[]
  run(input: CommandInput): Promise<void>
}

/** What a command was told: on the command line, else in the environment, else in the configuration file. */
export interface CommandInput {
  argument(name: string): string
  get<T>(option: DefaultedOption<T>): T
  get<T>(option: Option<T>): T | undefined
  /** One of the `required`. */
  required<T>(option: Option<T>): T
  /** The same words, with environment and file read anew. */
  reread(): CommandInput
  /** All settings with what holds for them. */
  effective(): Record<string, string | number | boolean>
}

const helpOption = switchOption('help', 'show this text')

export function helpText(command: Command): string {
  const optionRows = optionsOf(command).map((option) => {
    const isOn = option.value === undefined && option.fallback === 'true'
    const fallback = option.value !== undefined && option.fallback !== undefined ? ` (default ${option.fallback})` : ''
    const does = isOn ? `do not ${option.description}` : option.description
    return [`--${isOn ? 'no-' : ''}${option.name}${option.value ? ` ${option.value}` : ''}`, `${does}${fallback}`]
  })
  const argumentRows = command.arguments.map(({ name, description }) => [name, description])
  const parts = [
    `${[command.summary, command.details].join('\n').trimEnd()}\n`,
    `Usage: ledger-state ${command.name}${command.arguments.map(({ name }) => ` ${name}`).join('')} [options]\n`,
  ]
  if (argumentRows.length > 0) parts.push(`Arguments:\n${table(argumentRows)}\n`)
  parts.push(`Options:\n${table(optionRows)}\n`)
  if (command.examples.length > 0)
    parts.push(`Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}\n`)
  return parts.join('\n')
}

function optionsOf(command: Command): readonly Option<unknown>[] {
  return [...command.options, configOption, helpOption]
}

export function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left]) => left!.length))
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`).join('\n')
}

/** Reads the words behind the command's name. @throws `usage` */
export function parseCommandInput(command: Command, words: readonly string[]): CommandInput | 'help' {
  if (words.includes('--help') || words.includes('-h')) return 'help'
  const { values, positionals } = parseWords(command, words)

  const missing = command.arguments[positionals.length]
  if (missing) throw usageError(`${command.name}: ${missing.name} is missing (${missing.description})`)
  const surplus = positionals[command.arguments.length]
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
  ) {
    this.#command = command
    this.#values = values
    this.#positionals = positionals
    this.#readConfiguration = readConfiguration
    this.#configuration = readConfiguration()
    for (const option of command.options) this.get(option)
  }

  argument(name: string): string {
    return this.#positionals[this.#command.arguments.findIndex((argument) => argument.name === name)]!
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
    if (value === undefined) throw usageError(`${this.#command.name}: --${option.name} ${option.value} is missing`)
    return value
  }

  reread(): CommandInput {
    return new ParsedInput(this.#command, this.#values, this.#positionals, this.#readConfiguration)
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
  const options = Object.fromEntries(
    optionsOf(command).map(({ name, value }) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true, allowNegative: true })
  } catch (error) {
    // Node appends advice about positional arguments, which fits none of our commands.
    const [why] = (error as Error).message.split(/\. To specify|\n/)
    throw usageError(`${command.name}: ${why!.replace(/\.$/, '')}; see ledger-state ${command.name} --help`)
  }
}
