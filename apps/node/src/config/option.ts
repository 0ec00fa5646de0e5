import { isLedgerStateError, parseU64 } from '@ledger-state/core'
import { usageError } from '../errors.js'

/** A named input of a command. */
export interface Option<T> {
  readonly name: string
  /** Name of the value in help texts; without one the option is a switch. */
  readonly value?: string | undefined
  readonly description: string
  /** Whether its value is shown to nobody: neither quoted in an error nor printed. */
  readonly isSecret?: boolean | undefined
  /** Whether it may be given several times. As one text, its values stand between commas. */
  readonly isList?: boolean | undefined
  /** Whether a new value takes effect while a node runs (SIGHUP); others do at the next restart. */
  readonly appliesAtOnce?: boolean | undefined
  /** The text that holds where none is given. */
  readonly fallback?: string | undefined
  /** @throws any `LedgerStateError`; its message then follows the name of the option */
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

/** An option that may be given several times, or once with commas between its values. */
export function listOption<T>(
  name: string,
  value: string,
  description: string,
  parse: (text: string) => T,
): Option<readonly T[]> {
  return { name, value, description, isList: true, parse: (text) => text.split(',').map((one) => parse(one.trim())) }
}

/** An option whose new value takes effect while a node runs. */
export function atOnce<O extends Option<unknown>>(option: O): O & { readonly appliesAtOnce: true } {
  return { ...option, appliesAtOnce: true }
}

/** A switch: `--NAME` on the command line; `--no-NAME` switches off one that is on by default. */
export function switchOption(name: string, description: string, on = false): DefaultedOption<boolean> {
  return { name, description, fallback: String(on), parse: parseSwitch }
}

function parseSwitch(text: string): boolean {
  if (text === 'true' || text === '1') return true
  if (text === 'false' || text === '0') return false
  throw usageError(`${JSON.stringify(text)} is neither true nor false`)
}

export function oneOf<T extends string>(...words: readonly T[]): (text: string) => T {
  return (text) => {
    const word = words.find((candidate) => candidate === text)
    if (word === undefined) throw usageError(`${JSON.stringify(text)} is not one of ${words.join(', ')}`)
    return word
  }
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

/** The environment hands settings on to processes; Linux takes 128 KiB for each variable there. */
export const MOST_TEXT = 8_192

/** @throws `usage`, with the place of the text before the message */
export function parseAs<T>(place: string, text: string, parse: (text: string) => T): T {
  if (text.length > MOST_TEXT) throw usageError(`${place}: the value has more than ${MOST_TEXT} characters`)
  try {
    return parse(text)
  } catch (error) {
    if (isLedgerStateError(error)) throw usageError(`${place}: ${error.message}`)
    throw error
  }
}
