import { type DefaultedOption, type Option, switchOption } from './option.js'
import { configOption } from './settings.js'

interface ArgumentDefinition {
  readonly name: string
  readonly description: string
  /** Whether it stands for all words that are left, of which there may be none. The last argument alone can. */
  readonly isRest?: boolean
}

export interface Command {
  readonly name: string
  /** A line. */
  readonly summary: string
  /** Further lines of its help. */
  readonly details?: string
  readonly arguments: readonly ArgumentDefinition[]
  readonly options: readonly Option<unknown>[]
  /** Those of `options` that have to be given. */
  readonly required?: readonly Option<unknown>[]
  readonly examples: readonly string[]
  run(input: CommandInput): Promise<void>
}

/** The values of a command's options: from the command line, else the environment, else the configuration file. */
export interface CommandInput {
  argument(name: string): string
  /** The words behind the arguments that are named before, for a command whose last argument stands for all that is left. */
  rest(): readonly string[]
  get<T>(option: DefaultedOption<T>): T
  get<T>(option: Option<T>): T | undefined
  /** The value of one of the `required` options. */
  required<T>(option: Option<T>): T
  /** The same words, with the environment and the file read again. */
  reread(): CommandInput
  /** The value of every setting but secrets. */
  effective(): Record<string, string | number | boolean>
}

const helpOption = switchOption('help', 'show this text')

/** Its own options, and those of every command. */
export function optionsOf(command: Command): readonly Option<unknown>[] {
  return [...command.options, configOption, helpOption]
}
