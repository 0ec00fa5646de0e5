import type { VersionWrites, Write } from '@ledger-state/core'
import { noteToAnnotation } from '@ledger-state/records'
import { type ChainLikeWrite, chainLikeBlocks } from './chain-like-writes.ts'
import type { KeyReturns } from './key-population.ts'

const SLOT_DEPOSIT = 40_000n

/**
 * The versions of `chainLikeBlocks` as an ingest commits them, endlessly. Each block has a version of block metadata,
 * its transactions, and a checkpoint without writes. Values have the annotations that a store makes of their metadata.
 */
export function* chainLikeVersions(returns: KeyReturns, seed = 1): Generator<VersionWrites, never> {
  let version = 0n
  for (const { height, timeUsec, metadata, transactions } of chainLikeBlocks(returns, seed)) {
    const block = { height: BigInt(height), epoch: 1n, timestampUsec: BigInt(timeUsec) }
    yield { version: version++, block, writes: metadata.map(toWrite) }
    for (const writes of transactions) yield { version: version++, block: undefined, writes: writes.map(toWrite) }
    yield { version: version++, block: undefined, writes: [] }
  }
  throw new Error('chainLikeBlocks has ended')
}

function toWrite({ key, value, isCreation, creationTimeUsec }: ChainLikeWrite): Write {
  const metadata =
    creationTimeUsec === undefined
      ? undefined
      : { slotDeposit: SLOT_DEPOSIT, bytesDeposit: undefined, creationTimeUsec: BigInt(creationTimeUsec) }
  const annotation = noteToAnnotation({ metadata, isCreation })
  return annotation ? [key, value, annotation] : [key, value]
}
