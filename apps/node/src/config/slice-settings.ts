import { isLedgerStateError } from '@ledger-state/core'
import { parseSliceLines, parseSliceSpec, type SliceSpec } from '@ledger-state/slices'
import { usage, usageError } from '../errors.js'
import type { CommandInput } from './command.js'
import { linesOfFile } from './lines-of-file.js'
import { settings } from './settings.js'

/** Specification of a slice, as settings are passed to processes. */
export interface SliceSettings {
  readonly file: string | undefined
  readonly accounts: readonly string[]
  readonly tables: readonly string[]
  readonly types: readonly string[]
}

/** Whether the input asks for a slice. */
export function asksForSlice(input: CommandInput): boolean {
  return settingsOf(input) !== undefined
}

/**
 * The slice that the input asks for; undefined to keep everything.
 * @throws `usage` if the file or a text cannot be read
 */
export function readSliceSettings(input: CommandInput): SliceSettings | undefined {
  const slice = settingsOf(input)
  if (slice) checkSlice(slice)
  return slice
}

function settingsOf(input: CommandInput): SliceSettings | undefined {
  const file = input.get(settings.only)
  const accounts = input.get(settings.onlyAccount) ?? []
  const tables = input.get(settings.onlyTable) ?? []
  const types = input.get(settings.onlyType) ?? []
  if (file === undefined && accounts.length + tables.length + types.length === 0) return undefined
  return { file, accounts, tables, types }
}

/**
 * Reads the specification line by line without keeping it, so that a file of millions of lines is in memory once, when
 * it is used.
 */
function checkSlice(slice: SliceSettings): void {
  const { file, ...named } = slice
  if (file === undefined) return void sliceSpecOf(slice)
  readingFrom(file, () => {
    let lines = 0
    for (const _ of parseSliceLines(linesOfFile(file))) lines++
    const isNamed = named.accounts.length + named.tables.length + named.types.length > 0
    if (isNamed || lines === 0) parseSliceSpec(named)
  })
}

/**
 * Reads the specification.
 * @throws `usage` if the file or a text cannot be read
 */
export function sliceSpecOf({ file, accounts, tables, types }: SliceSettings): SliceSpec {
  return readingFrom(file, () => {
    return parseSliceSpec({ accounts, tables, types, lines: file === undefined ? [] : linesOfFile(file) })
  })
}

function readingFrom<T>(file: string | undefined, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const isOfFile = !isLedgerStateError(error) || isLedgerStateError(error, 'invalid_slice')
    if (file !== undefined && isOfFile) throw usage.unreadableSlice(file, error)
    throw isLedgerStateError(error) ? usageError(error.message) : error
  }
}
