import { ByteReader, type Write } from '@ledger-state/core'
import type { LedgerSource, LedgerVersion } from '@ledger-state/feed'
import { AccumulatorFrontier, LedgerHasher } from '@ledger-state/proof'
import { readTransaction, visitWriteSet } from '@ledger-state/proof/transactions'
import type { KeyReturns } from '../workload/chain/key-population.ts'
import { type MainnetLikeVersion, mainnetLikeVersions } from './mainnet-like-ledger.ts'

/** A made ledger like mainnet as a source that needs no memory for its versions: each is made when it is asked for. */
export function openMainnetLikeSource(versions: number, returns: KeyReturns): LedgerSource {
  return {
    description: 'made for this suite',
    chainId: 42,
    position: 'the made ledger',
    mark: undefined,
    hashSalt: 'APTOS::',
    progress: { done: 0, total: versions, unit: 'versions' },
    async *versions() {
      const hasher = new LedgerHasher('APTOS::')
      const frontier = new AccumulatorFrontier(hasher, 'TransactionAccumulator')
      let version = 0n
      for (const made of mainnetLikeVersions(versions, returns))
        yield toLedgerVersion(version++, made, hasher, frontier)
    },
    async close() {},
  }
}

function toLedgerVersion(
  version: bigint,
  { transaction, info, events, writeSet }: MainnetLikeVersion,
  hasher: LedgerHasher,
  frontier: AccumulatorFrontier,
): LedgerVersion {
  const leaf = hasher.hash('TransactionInfo', info)
  frontier.append(leaf)
  const writes: Write[] = []
  visitWriteSet(new ByteReader(writeSet), ({ key, value }) => writes.push([key, value]))
  const read = readTransaction(new ByteReader(transaction))
  const block =
    read.kind === 'block_metadata'
      ? { height: read.round, epoch: read.epoch, timestampUsec: read.timestampUsec }
      : version === 0n
        ? { height: 0n, epoch: 0n, timestampUsec: 0n }
        : undefined
  return {
    version,
    ...(block && { block }),
    writes,
    readWhole: () => ({
      transaction,
      info,
      events,
      writeSet,
      indexInBlock: undefined,
      leaf,
      readFrontier: () => frontier.toBytes(),
    }),
  }
}
