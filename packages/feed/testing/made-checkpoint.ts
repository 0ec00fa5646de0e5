// Checkpoints of a made-up ledger, signed by validators with keys made here.
import { ByteWriter } from '@ledger-state/core'
import { AccumulatorFrontier, accumulatorPath, LedgerHasher, type SignedCheckpoint } from '@ledger-state/proof'
import { type MadeLedgerInfo, sha3, signedLedgerInfo } from './synthetic-epochs.js'

const TREE = 'TransactionAccumulator'

/** BCS of the info of a transaction that succeeded and ends a block. */
export function madeTransactionInfo(version: bigint, stateRoot: Uint8Array): Uint8Array {
  const hashes = ['transaction', 'events', 'writes'].map((name) => sha3(`${name} ${version}`))
  const writer = new ByteWriter().u8(0).u64(7n).u8(0)
  for (const hash of hashes) writer.bytes(hash)
  return writer.bool(true).bytes(stateRoot).bool(false).toBytes()
}

export interface MadeCheckpoint extends Omit<MadeLedgerInfo, 'root' | 'version'> {
  /** Version of the checkpoint; the ledger info is of version `end`. */
  readonly version: bigint
  readonly end: bigint
  readonly stateRoot: Uint8Array
}

/** The signed checkpoint of a version with a state root. */
export function madeCheckpoint({ version, end, stateRoot, ...info }: MadeCheckpoint): SignedCheckpoint {
  const hasher = new LedgerHasher(info.salt)
  const transactionInfo = madeTransactionInfo(version, stateRoot)
  const leafAt = (index: number) =>
    index === Number(version) ? hasher.hash('TransactionInfo', transactionInfo) : sha3(`leaf ${index}`)
  const frontier = new AccumulatorFrontier(hasher, TREE)
  let before = frontier.clone()
  for (let index = 0; index <= Number(end); index++) {
    if (index === Number(version)) before = frontier.clone()
    frontier.append(leafAt(index))
  }
  const total = Number(end) + 1
  const rightOfLast = placeholdersRightOf(Number(end), total)
  const siblings = accumulatorPath(hasher, { total, before, leafAt, last: Number(end), rightOfLast })!
  const ledgerInfo = signedLedgerInfo({ ...info, version: end, root: frontier.root() })
  return { version, transactionInfo, siblings, ledgerInfo }
}

/** The hashes to the right of the last leaf of a tree: placeholders. */
function placeholdersRightOf(last: number, total: number): Uint8Array[] {
  const placeholder = new AccumulatorFrontier(new LedgerHasher(), TREE).root()
  const placeholders: Uint8Array[] = []
  for (let level = 0, width = total - 1; width > 0; level++, width = Math.floor(width / 2)) {
    if (Math.floor(last / 2 ** level) % 2 === 0) placeholders.push(placeholder)
  }
  return placeholders
}
