import { ByteReader, isLedgerStateError } from '@ledger-state/core'

// The configuration of consensus on chain, read as far as one question needs it. It is an enum of versions: each has an
// algorithm, and since the third version the configuration of validator transactions.

const FIRST_WITH_TRANSACTIONS = 2
const LATEST_VERSION = 4
const ENABLED = 1

/** Whether validators may add transactions themselves; false for bytes that are not a configuration. */
export function areValidatorTransactionsEnabled(bytes: Uint8Array): boolean {
  try {
    return readConfig(new ByteReader(bytes))
  } catch (error) {
    if (isLedgerStateError(error)) return false
    throw error
  }
}

function readConfig(reader: ByteReader): boolean {
  const version = readVariant(reader, LATEST_VERSION)
  if (version < FIRST_WITH_TRANSACTIONS) return false
  skipAlgorithm(reader)
  const isEnabled = readVariant(reader, ENABLED) === ENABLED
  // Skips the most transactions in a block and the most bytes.
  if (isEnabled) reader.skip(8 + 8)
  if (version > FIRST_WITH_TRANSACTIONS && readVariant(reader, 1) === 1) reader.skip(8)
  if (version === LATEST_VERSION) reader.readBool()
  reader.expectEnd()
  return isEnabled
}

function readVariant(reader: ByteReader, last: number): number {
  const start = reader.offset
  const variant = reader.readUleb128()
  if (variant > last) throw reader.fault('an unknown variant', start)
  return variant
}

const ALGORITHM = { jolteon: 0, dag: 1, jolteonV2: 2 } as const

function skipAlgorithm(reader: ByteReader): void {
  const algorithm = readVariant(reader, ALGORITHM.jolteonV2)
  if (algorithm === ALGORITHM.dag) {
    reader.skip(8)
    if (readVariant(reader, 1) === 1) skipReputation(reader)
    return
  }
  // Skips decoupled execution, back pressure and excluded rounds.
  reader.readBool()
  reader.skip(8 + 8)
  skipElection(reader)
  // Skips the number of failed authors that are kept, quorum store, and order votes.
  reader.skip(8)
  reader.readBool()
  if (algorithm === ALGORITHM.jolteonV2) reader.readBool()
}

const ELECTION = { reputation: 2, byRound: 3 } as const

function skipElection(reader: ByteReader): void {
  const election = readVariant(reader, ELECTION.byRound)
  if (election === ELECTION.reputation) skipReputation(reader)
  else if (election === ELECTION.byRound) {
    for (let left = reader.readLength(); left > 0; left--) reader.skip(8 + 32)
  } else reader.skip(4)
}

/** Skips three weights, a threshold, two windows, whether votes are weighted, and a count. */
function skipReputation(reader: ByteReader): void {
  readVariant(reader, 1)
  reader.skip(3 * 8 + 4 + 2 * 8)
  reader.readBool()
  reader.skip(4)
}
