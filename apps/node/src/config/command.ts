import { type DefaultedOption, type Option, switchOption } from './option.js'
import { configOption } from './settings.js'

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

/** Its own options, and those of every command. */
export function optionsOf(command: Command): readonly Option<unknown>[] {
  return [...command.options, configOption, helpOption]
}
