// A made-up ledger with whole transactions and ledger infos that validators signed, for answers with proofs.
import type { Write } from '@ledger-state/core'
import { createMemoryEngine, type StateWriter } from '@ledger-state/engine'
import { SYNTHETIC_CHAIN_ID, SyntheticChain } from '@ledger-state/feed/testing/synthetic-chain'
import { signedLedgerInfo, waypointHash } from '@ledger-state/feed/testing/synthetic-epochs'
import { AccumulatorFrontier, LedgerHasher, type SignedCheckpoint } from '@ledger-state/proof'
import {
  ALL_TRANSACTION_INDEXES,
  CHECKPOINT_KEY,
  checkpointToBytes,
  encodeWholeTransactionsMark,
  WHOLE_TRANSACTIONS_KEY,
} from '@ledger-state/records'
import { TransactionGroup } from '@ledger-state/records/transaction-group'
import { createRandom } from '@ledger-state/testing/random'
import type { StateProofs } from '../src/operations/parts/state-proofs.ts'

const SALT = 'APTOS::'
const BLOCKS_OF_PART = 9
const PARTS = 5

export interface SignedTransactions {
  readonly engine: StateWriter
  readonly chain: SyntheticChain
  readonly proofs: StateProofs
  /** Waypoint of the first epoch change. */
  readonly waypoint: string
  /** The last versions that a ledger info in the store covers, in order. */
  readonly signed: readonly bigint[]
}

export interface SignedOptions {
  readonly seed: number
  /** Whether validators sign; otherwise the ledger infos have no signature. */
  readonly isSigned?: boolean
  /** First version with a whole transaction. */
  readonly wholeFrom?: number
  /** Indexes of the transactions; all by default. */
  readonly indexes?: Parameters<typeof encodeWholeTransactionsMark>[0]['indexes']
}

/**
 * Creates the ledger: some parts of a few blocks. Each but the last has a ledger info of its end, which covers the
 * versions up to the end of a block some blocks before. The last part has none.
 */
export async function createSignedTransactions({
  seed,
  isSigned = true,
  wholeFrom = 0,
  indexes = ALL_TRANSACTION_INDEXES,
}: SignedOptions): Promise<SignedTransactions> {
  const random = createRandom(seed)
  const chain = new SyntheticChain({ blocks: 0, seed, signers: isSigned ? true : [] })
  const checkpoints = new Map<number, SignedCheckpoint>()
  for (let part = 0; part < PARTS; part++) {
    chain.extend(BLOCKS_OF_PART)
    if (part === PARTS - 1) break
    const end = Number(chain.latestVersion)
    const starts = chain.expected.flatMap(({ block }, version) => (block ? [version] : []))
    const version = random.below(3) === 0 ? end : starts.at(-1 - random.below(3))! - 1
    const { info: transactionInfo } = chain.records[version]!
    const siblings = chain.versionSiblings(version)
    // Found some versions after the checkpoint, as by a node that follows another one.
    checkpoints.set(random.below(2) === 0 ? version : end, {
      version: BigInt(version),
      transactionInfo,
      siblings,
      ledgerInfo: chain.ledgerInfo(),
    })
  }
  const engine = await commitChain(chain, checkpoints, { wholeFrom, indexes }, random)
  const endings = chain.endings()
  const signedEndings = endings.map(signedLedgerInfo)
  return {
    engine,
    chain,
    waypoint: `${endings[0]!.version}:${waypointHash(endings[0]!)}`,
    signed: [...checkpoints.values()].map(({ version }) => version),
    proofs: {
      hashSalt: undefined,
      versions: [],
      at: () => undefined,
      async endings({ version, lastEpoch }) {
        const from = version === undefined ? 0 : endings.findIndex((one) => one.version === version)
        return from < 0 ? undefined : signedEndings.slice(from, Number(lastEpoch) + 1)
      },
    },
  }
}

async function commitChain(
  chain: SyntheticChain,
  checkpoints: ReadonlyMap<number, SignedCheckpoint>,
  { wholeFrom, indexes }: Required<Pick<SignedOptions, 'wholeFrom' | 'indexes'>>,
  random: ReturnType<typeof createRandom>,
): Promise<StateWriter> {
  const engine = createMemoryEngine()
  const hasher = new LedgerHasher(SALT)
  const frontier = new AccumulatorFrontier(hasher, 'TransactionAccumulator')
  const count = chain.records.length
  for (let first = 0; first < count; ) {
    // A group does not cross a multiple of 128 versions.
    const last = Math.min(count, first + 1 + random.below(6), 128 * (Math.floor(first / 128) + 1))
    let group: TransactionGroup | undefined
    const versions = chain.expected.slice(first, last).map(({ block, writes, version }, at) => {
      const { transaction, info, events, writeSet } = chain.records[first + at]!
      const leaf = chain.leaf(first + at)
      frontier.append(leaf)
      const own: Write[] = [...writes]
      const checkpoint = checkpoints.get(first + at)
      if (checkpoint) own.push([CHECKPOINT_KEY, checkpointToBytes(checkpoint)])
      if (first + at >= wholeFrom) {
        const bytes = frontier.toBytes()
        const whole = { transaction, info, events, writeSet, indexInBlock: undefined, leaf, readFrontier: () => bytes }
        group ??= new TransactionGroup(version, 'shared', indexes)
        own.push(...group.add(version, whole, own))
        if (first + at === wholeFrom)
          own.push([WHOLE_TRANSACTIONS_KEY, encodeWholeTransactionsMark({ hashSalt: SALT, indexes })])
      }
      return { version, block, writes: own }
    })
    const grouped = group?.toWrites().writes
    for (const { version, writes } of versions) writes.push(...(grouped?.get(version) ?? []))
    await engine.commit(
      versions.map(({ block, ...rest }) => (block ? { ...rest, block } : rest)),
      { chainId: BigInt(SYNTHETIC_CHAIN_ID) },
    )
    first = last
  }
  return engine
}
