import type { ByteReader } from '@ledger-state/core'
import type { JsonTextWriter } from './json-text-writer.js'

/** Reads a value and writes its JSON text. */
export type JsonPrinter = (reader: ByteReader, out: JsonTextWriter) => void

export interface CompiledPrinter {
  readonly print: JsonPrinter
  /** Least number of bytes of a value. */
  readonly minimumSize: number
  /** Whether every value takes exactly `minimumSize` bytes. */
  readonly fixedSize: boolean
  /** The members of a struct of fixed size, for the struct around it. */
  readonly members?: StructMembers | undefined
  /** Printer of a struct of fixed size that is not part of another one, once it was asked for. */
  whole?: JsonPrinter
}

/** The members of an object in the order in which they are printed. */
export interface MemberTexts {
  /** Places of their values in the bytes. */
  readonly order: readonly number[]
  /** The text before each value. */
  readonly before: readonly Uint8Array[]
  /** The text after the last one. */
  readonly end: Uint8Array
}

/** The members of a struct of fixed size. */
export interface StructMembers extends MemberTexts {
  /** Printers of the fields, in the order of their bytes. */
  readonly compiled: readonly CompiledPrinter[]
}
