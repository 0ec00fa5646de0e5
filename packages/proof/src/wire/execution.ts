import { ADDRESS_LENGTH, ByteReader } from '@ledger-state/core'
import { readName } from '@ledger-state/type-tag'
import { readVariant } from './variant.js'

// See docs/ledger-formats.md, "Transaction infos".

const INFO_VARIANTS = 2

/** The module in which a program ended. */
export interface ExecutionModule {
  readonly address: Uint8Array
  readonly name: string
}

/** The way in which the program of a transaction ended. A `module` is undefined if it ended in the script. */
export type ExecutionStatus =
  | { readonly kind: 'success' | 'out_of_gas' }
  | {
      readonly kind: 'abort'
      readonly module: ExecutionModule | undefined
      readonly code: bigint
      /** Name and text that the module gives the code. */
      readonly described: { readonly name: string; readonly text: string } | undefined
    }
  | {
      readonly kind: 'failure'
      readonly module: ExecutionModule | undefined
      /** Number of the function's definition. */
      readonly definition: number
      readonly codeOffset: number
    }
  /** Another result. The code is the VM's status code. */
  | { readonly kind: 'other'; readonly code: bigint | undefined }

/** Gas and end of a transaction, as its info has them. */
export interface Execution {
  readonly gasUsed: bigint
  readonly status: ExecutionStatus
}

const STATUS_READERS: readonly ((reader: ByteReader) => ExecutionStatus)[] = [
  () => ({ kind: 'success' }),
  () => ({ kind: 'out_of_gas' }),
  (reader) => ({
    kind: 'abort',
    module: readLocation(reader),
    code: reader.readU64(),
    described: reader.readOption(() => ({ name: readName(reader), text: readName(reader) })),
  }),
  (reader) => ({
    kind: 'failure',
    module: readLocation(reader),
    definition: reader.readU16(),
    codeOffset: reader.readU16(),
  }),
  (reader) => ({ kind: 'other', code: reader.readOption(() => reader.readU64()) }),
]

/** Reads gas and end of a transaction from the bytes of its info. @throws `invalid_bcs` */
export function readExecution(info: Uint8Array): Execution {
  const reader = new ByteReader(info)
  readVariant(reader, 'transaction info', INFO_VARIANTS)
  const gasUsed = reader.readU64()
  const variant = readVariant(reader, 'the status of a transaction', STATUS_READERS.length)
  return { gasUsed, status: STATUS_READERS[variant]!(reader) }
}

function readLocation(reader: ByteReader): ExecutionModule | undefined {
  if (readVariant(reader, 'the location of a status', 2) === 1) return undefined
  return { address: reader.readBytes(ADDRESS_LENGTH), name: readName(reader) }
}
