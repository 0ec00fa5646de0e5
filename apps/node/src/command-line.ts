import { parseArgs } from 'node:util'
import { isLedgerStateError, LedgerStateError, parseU64 } from '@ledger-state/core'

/** Raised when the command line itself is wrong: one line, exit status 2. */
export function usageError(message: string): LedgerStateError {
  return new LedgerStateError('usage', message)
}

interface OptionDefinition {
  /** Name of the value in help texts; without one the option is a switch. */
  readonly value?: string
  readonly description: string
  readonly required?: boolean
}

export type OptionDefinitions = Readonly<Record<string, OptionDefinition>>

interface ArgumentDefinition {
  readonly name: string
  readonly description: string
}

export interface Command {
  readonly name: string
  readonly summary: string
  readonly arguments: readonly ArgumentDefinition[]
  readonly options: OptionDefinitions
  readonly examples: readonly string[]
  run(input: CommandInput): Promise<void>
}

/** What was given on the command line, by name. */
export interface CommandInput {
  argument(name: string): string
  option(name: string): string | undefined
  required(name: string): string
  flag(name: string): boolean
}

export function helpText(command: Command): string {
  const optionRows = Object.entries({ ...command.options, help: { description: 'show this text' } }).map(
    ([name, { value, description }]: [string, OptionDefinition]) => [
      `--${name}${value ? ` ${value}` : ''}`,
      description,
    ],
  )
  const argumentRows = command.arguments.map(({ name, description }) => [name, description])
  const parts = [
    `${command.summary}\n`,
    `Usage: ledger-state ${command.name}${command.arguments.map(({ name }) => ` ${name}`).join('')} [options]\n`,
  ]
  if (argumentRows.length > 0) parts.push(`Arguments:\n${table(argumentRows)}\n`)
  parts.push(`Options:\n${table(optionRows)}\n`)
  if (command.examples.length > 0)
    parts.push(`Examples:\n${command.examples.map((example) => `  ${example}`).join('\n')}\n`)
  return parts.join('\n')
}

export function table(rows: readonly (readonly string[])[]): string {
  const width = Math.max(...rows.map(([left]) => left!.length))
  return rows.map(([left, right]) => `  ${left!.padEnd(width)}  ${right}`).join('\n')
}

/** Reads the words behind the command's name. @throws `usage` */
export function parseCommandInput(command: Command, words: readonly string[]): CommandInput | 'help' {
  if (words.includes('--help') || words.includes('-h')) return 'help'
  const definitions = Object.entries(command.options)
  const { values, positionals } = parseWords(command, words)

  const missing = command.arguments[positionals.length]
  if (missing) throw usageError(`${command.name}: ${missing.name} is missing (${missing.description})`)
  const surplus = positionals[command.arguments.length]
  if (surplus !== undefined) throw usageError(`${command.name}: unexpected argument ${JSON.stringify(surplus)}`)
  for (const [name, { required, value }] of definitions) {
    if (required && values[name] === undefined) throw usageError(`${command.name}: --${name} ${value} is missing`)
  }

  const option = (name: string): string | undefined => values[name] as string | undefined
  return {
    argument: (name) => positionals[command.arguments.findIndex((argument) => argument.name === name)]!,
    option,
    required: (name) => option(name)!,
    flag: (name) => values[name] === true,
  }
}

function parseWords(command: Command, words: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const) },
    ]),
  )
  try {
    return parseArgs({ args: [...words], options, allowPositionals: true })
  } catch (error) {
    // Node appends advice about positional arguments, which fits none of our commands.
    const [why] = (error as Error).message.split(/\. To specify|\n/)
    throw usageError(`${command.name}: ${why!.replace(/\.$/, '')}; see ledger-state ${command.name} --help`)
  }
}

/** @throws `usage` naming the option */
export function parseOption<T>(name: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    if (isLedgerStateError(error)) throw usageError(`${name}: ${error.message}`)
    throw error
  }
}

export function parseOptionalVersion(input: CommandInput, name: string): bigint | undefined {
  const text = input.option(name)
  return text === undefined ? undefined : parseOption(`--${name}`, text, parseU64)
}

export function parseOptionalChainId(input: CommandInput): number | undefined {
  const chainId = parseOptionalVersion(input, 'chain-id')
  if (chainId !== undefined && chainId > 255n) throw usageError(`--chain-id: ${chainId}, at most 255 is expected`)
  return chainId === undefined ? undefined : Number(chainId)
}

/** A window in versions, at least 1. */
export function parseRetain(input: CommandInput): bigint | undefined {
  const versions = parseOptionalVersion(input, 'retain')
  if (versions === 0n) throw usageError('--retain: a window holds at least 1 version')
  return versions
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export function parseListenAddress(text: string): ListenAddress {
  const parts = /^(?:\[([0-9a-fA-F:.]+)\]|([^:]+)):(\d{1,5})$/.exec(text)
  const port = Number(parts?.[3])
  if (!parts || port > 65_535)
    throw usageError(`--listen: ${JSON.stringify(text)} is no HOST:PORT such as 127.0.0.1:8080 or [::1]:8080`)
  return { host: (parts[1] ?? parts[2])!, port }
}
