import { type DefaultedOption, type Option, switchOption } from './option.js'
import { configOption } from './settings.js'

interface ArgumentDefinition {
  readonly name: string
  readonly description: string
  /** Whether it takes all remaining words, possibly none. Only the last argument can. */
  readonly isRest?: boolean
}

export interface Command {
  readonly name: string
  /** One line about the command. */
  readonly summary: string
  /** Further lines of the command's help. */
  readonly details?: string
  readonly arguments: readonly ArgumentDefinition[]
  readonly options: readonly Option<unknown>[]
  /** Options, out of `options`, that must be given. */
  readonly required?: readonly Option<unknown>[]
  readonly examples: readonly string[]
  /** Whether it continues when nobody reads its output, because its work is elsewhere, such as in a store. */
  readonly goesOn?: true
  /** Ways to go on if there is no store, for a command that has more of them than others. */
  readonly ifNoStore?: string
  run(input: CommandInput): Promise<void>
}

/** Values of a command's options: from the command line, else the environment, else the configuration file. */
export interface CommandInput {
  argument(name: string): string
  /** The words after all named arguments, for a command with a last argument that takes the rest. */
  rest(): readonly string[]
  get<T>(option: DefaultedOption<T>): T
  get<T>(option: Option<T>): T | undefined
  /** The value of one of the `required` options. */
  required<T>(option: Option<T>): T
  /** Reads the environment and the file again, with the same words of the command line. */
  reread(): RereadInput
  /** The value of every setting except secrets. */
  effective(): Record<string, string | number | boolean>
}

/** An input after its environment and its file have changed. */
export interface RereadInput {
  readonly all: CommandInput
  /** The input before, in which only the settings that take effect at once have their new values. */
  readonly atOnce: CommandInput
}

const helpOption = switchOption('help', 'show this text')

/** The options of a command, and those that all commands have. */
export function optionsOf(command: Command): readonly Option<unknown>[] {
  return [...command.options, configOption, helpOption]
}
