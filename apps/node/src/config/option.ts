import { clip, isLedgerStateError } from '@ledger-state/core'
import { usageError } from '../errors.js'

/** Headings of options in help texts, in their order. */
export const OPTION_GROUPS = [
  'Store',
  'Source',
  'Slice',
  'Trust',
  'Following and replicas',
  'Service',
  'Views',
  'Forwarding',
  'Limits',
  'Log',
] as const

export type OptionGroup = (typeof OPTION_GROUPS)[number]

/** A named input of a command. */
export interface Option<T> {
  readonly name: string
  /** Heading in help texts. Options without it, most of them of one command, come first. */
  readonly group?: OptionGroup | undefined
  /** Name of the value in help texts. An option without it is a switch. */
  readonly value?: string | undefined
  readonly description: string
  /** Whether its value is secret: it is neither quoted in an error nor printed. */
  readonly isSecret?: boolean | undefined
  /** Whether it may be given several times. In a single text, commas separate its values. */
  readonly isList?: boolean | undefined
  /** Whether a new value takes effect while a node runs (SIGHUP). Other options take effect at the next restart. */
  readonly appliesAtOnce?: boolean | undefined
  /** Text that applies if none is given. */
  readonly fallback?: string | undefined
  /**
   * Parses a text.
   * @throws any `LedgerStateError`; its message then follows the name of the option
   */
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

/** An option that can change while a node runs. */
export function atOnce<O extends Option<unknown>>(option: O): O & { readonly appliesAtOnce: true } {
  return { ...option, appliesAtOnce: true }
}

/** Puts options below a heading of help texts. */
export function inGroup<T extends Readonly<Record<string, Option<unknown>>>>(group: OptionGroup, options: T): T {
  return Object.fromEntries(Object.entries(options).map(([key, option]) => [key, { ...option, group }])) as T
}

/** A switch: `--NAME` on the command line; `--no-NAME` switches it off if it is on by default. */
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

const MOST_U64 = 2n ** 64n - 1n

/** Parses a version, or another whole number of 64 bits. @throws `usage` */
export function parseWhole(text: string): bigint {
  if (!/^\d{1,20}$/.test(text) || BigInt(text) > MOST_U64) {
    throw usageError(`${JSON.stringify(clip(text))} is not a whole number from 0 to ${MOST_U64}`)
  }
  return BigInt(text)
}

/** Returns a parser for whole numbers from `least` to `most`. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const number = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n
    if (number < BigInt(least) || number > BigInt(most)) {
      throw usageError(`expected a whole number from ${least} to ${most}, got ${JSON.stringify(clip(text))}`)
    }
    return Number(number)
  }
}

/**
 * Most characters of a setting. The environment passes settings to processes, and Linux allows 128 KiB for each
 * variable.
 */
export const MOST_TEXT = 8_192

/**
 * Parses a text.
 * @throws `usage`, with the place of the text before the message
 */
export function parseAs<T>(place: string, text: string, parse: (text: string) => T): T {
  if (text.length > MOST_TEXT) throw usageError(`${place}: the value has more than ${MOST_TEXT} characters`)
  try {
    return parse(text)
  } catch (error) {
    if (isLedgerStateError(error)) throw usageError(`${place}: ${error.message}`)
    throw error
  }
}
