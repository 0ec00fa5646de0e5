import { type Ledger, parseTimestamp } from '@ledger-state/ledger'
import type { CommandInput } from '../config/command.js'
import { option, parseWhole } from '../config/option.js'
import { usageError } from '../errors.js'
import { storeOptions } from '../stores/store-place.js'

// Options of commands that read one state.

const versionOption = option('version', 'VERSION', 'ledger version to read at (default the latest)', parseWhole)
const atOption = option(
  'at',
  'TIME',
  'read at the newest block at or before a time: RFC 3339 with Z or an offset, a date, or microseconds since 1970',
  parseTimestamp,
)
const MOMENT_OPTIONS = [versionOption, atOption]
export const stateOptions = [...storeOptions, ...MOMENT_OPTIONS]
export const accountArgument = { name: 'ADDRESS', description: 'the account, with or without 0x' }

/** Names of the given options that name the state to read. */
export function namesOfStateOptions(input: CommandInput): readonly string[] {
  return MOMENT_OPTIONS.filter((one) => input.get<unknown>(one) !== undefined).map(({ name }) => name)
}

/**
 * Returns a function that finds the version which the options name; undefined for the latest.
 * @throws `usage`
 */
export function askedVersion(input: CommandInput): (ledger: Ledger) => bigint | undefined {
  const version = input.get(versionOption)
  const timestampUsec = input.get(atOption)
  if (version !== undefined && timestampUsec !== undefined)
    throw usageError('--version and --at are both given, and each names the state to read')
  return (ledger) => (timestampUsec === undefined ? version : ledger.versionAtTime(timestampUsec))
}
