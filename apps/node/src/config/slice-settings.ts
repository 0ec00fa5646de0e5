import { readFileSync } from 'node:fs'
import { isLedgerStateError } from '@ledger-state/core'
import { parseSliceSpec, readSliceFile, type SliceSpec } from '@ledger-state/ledger'
import { unreadableSlice, usageError } from '../errors.js'
import type { CommandInput } from './command.js'
import { settings } from './settings.js'

/** What a slice is asked for with, as settings are handed to processes. */
export interface SliceSettings {
  readonly file: string | undefined
  readonly accounts: readonly string[]
  readonly tables: readonly string[]
  readonly types: readonly string[]
}

/** The slice that the input asks for; undefined to keep everything. @throws `usage` */
export function sliceSettings(input: CommandInput): SliceSettings | undefined {
  const file = input.get(settings.only)
  const accounts = input.get(settings.onlyAccount) ?? []
  const tables = input.get(settings.onlyTable) ?? []
  const types = input.get(settings.onlyType) ?? []
  if (file === undefined && accounts.length + tables.length + types.length === 0) return undefined
  const slice = { file, accounts, tables, types }
  sliceSpecOf(slice)
  return slice
}

/** @throws `usage` where the file or a text cannot be read */
export function sliceSpecOf({ file, accounts, tables, types }: SliceSettings): SliceSpec {
  const read = file === undefined ? { accounts: [], tables: [], types: [] } : readFile(file)
  try {
    return parseSliceSpec({
      accounts: [...read.accounts, ...accounts],
      tables: [...read.tables, ...tables],
      types: [...read.types, ...types],
    })
  } catch (error) {
    throw isLedgerStateError(error) ? usageError(error.message) : error
  }
}

function readFile(file: string) {
  try {
    return readSliceFile(readFileSync(file, 'utf8'))
  } catch (error) {
    throw unreadableSlice(file, error)
  }
}
