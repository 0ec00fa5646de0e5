import { isLedgerStateError, parseU64 } from '@ledger-state/core'
import { usageError } from '../errors.js'

/** Something that a command is told by name. */
export interface Option<T> {
  readonly name: string
  /** Name of the value in help texts; without one the option is a switch. */
  readonly value?: string | undefined
  readonly description: string
  /** What holds where nothing is said. */
  readonly fallback?: string | undefined
  /** @throws any error of ours, which is then told with the name of the option */
  parse(text: string): T
}

/** An option that always has a value. */
export type DefaultedOption<T> = Option<T> & { readonly fallback: string }

export function textOption(name: string, value: string, description: string): Option<string> {
  return { name, value, description, parse: (text) => text }
}

export function option<T>(name: string, value: string, description: string, parse: (text: string) => T): Option<T> {
  return { name, value, description, parse }
}

export function defaultedOption<T>(
  name: string,
  value: string,
  description: string,
  fallback: string,
  parse: (text: string) => T,
): DefaultedOption<T> {
  return { name, value, description, fallback, parse }
}

/** On the command line `--NAME`, and `--no-NAME` for one that is on by itself. */
export function switchOption(name: string, description: string, on = false): DefaultedOption<boolean> {
  return { name, description, fallback: String(on), parse: parseSwitch }
}

function parseSwitch(text: string): boolean {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw usageError(`${JSON.stringify(text)} is neither true nor false`)
}

/** Whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = parseU64(text)
    if (number < BigInt(least) || number > BigInt(most)) {
      throw usageError(`${number} is out of range, ${least} to ${most} is expected`)
    }
    return Number(number)
  }
}

/** @throws `usage` naming where the text stands */
export function parseAs<T>(place: string, text: string, parse: (text: string) => T): T {
  try {
    return parse(text)
  } catch (error) {
    if (isLedgerStateError(error)) throw usageError(`${place}: ${error.message}`)
    throw error
  }
}
