import { ByteReader, isLedgerStateError } from '@ledger-state/core'
import type { EventProof, LedgerHasher, SignedCheckpoint, TransactionProof } from '@ledger-state/proof'
import { checkEventProof, checkTransactionProof } from '@ledger-state/proof'
import { eventPath, readTransaction } from '@ledger-state/proof/transactions'
import { withValues } from '@ledger-state/records'
import { outlineToInfo, type StoredTransaction } from '@ledger-state/records/transaction-blocks'
import { storedDataInvalid } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type FoundProof, findInfoProof, signedCheckpointAt } from './info-proof.js'
import { atOnce, type RenderContext, type Steps } from './render/render-context.js'
import { type CompleteTransaction, transactionToJson } from './render/transaction.js'
import { transactionToBcs } from './render/transaction-to-bcs.js'

/** A transaction that the store keeps whole. */
export interface LedgerTransaction {
  readonly version: bigint
  /** Index of the transaction in its proposed block; undefined if it is not known. */
  readonly indexInBlock: number | undefined
  /**
   * The transaction as JSON, as full nodes print it, decoded with the modules at its version; if that state is pruned,
   * with those of the oldest version of the window.
   * @throws `stored_data_invalid` for a kind of transaction, payload or signature that is not known
   */
  toJson(): string
  /** The same in steps, after each of which others may have a turn. Over an async engine it is one step. */
  toJsonInSteps(): Steps<string>
  /** The transaction with its info, events, accumulator root and write set in BCS, as full nodes answer. */
  toBcs(): Uint8Array
  /**
   * The proof of the transaction, without epoch changes.
   * @throws `version_truncated`; `stored_data_invalid`; `verification_failed` if the parts in the store do not fit
   * together
   */
  prove(): FoundProof<TransactionProof>
}

/** Whether the store has the whole transactions of some versions of the window, up to the version of the state. */
export function hasWholeTransactions(state: LedgerState): boolean {
  return state.transactions.hasher !== undefined
}

/**
 * The whole transaction of a version. Undefined if the store does not have it, below the oldest kept one, and above the
 * version of the state.
 * @throws `version_truncated`; `stored_data_invalid`
 */
export function wholeTransactionAt(state: LedgerState, version: bigint): LedgerTransaction | undefined {
  const stored = state.transactions.storedAt(version)
  return stored && createTransaction(state, version, stored)
}

/** The transaction, from the parts that the store keeps. */
export function createTransaction(state: LedgerState, version: bigint, stored: StoredTransaction): LedgerTransaction {
  const whole = (): CompleteTransaction => completeTransaction(state, version, stored)
  function* steps(): Steps<string> {
    const { timestampUsec } = stored.ownFacts ?? state.source.reader.blockAt(version).block
    return yield* transactionToJson(renderContextAt(state, version), { version, whole: whole(), timestampUsec })
  }
  const toJson = (): string => madeOnce(state, `transaction ${version} as JSON`, () => atOnce(steps()))
  return {
    version,
    indexInBlock: stored.indexInBlock,
    toJson,
    *toJsonInSteps() {
      return state.source.loading ? toJson() : yield* steps()
    },
    toBcs: () => madeOnce(state, `transaction ${version} in BCS`, () => transactionToBcs(version, whole())),
    prove() {
      const { transaction, events, info } = whole()
      const hasher = hasherOf(state, version)
      const found = findInfoProof(state, version, info, hasher)
      if (found.kind !== 'proven') return found
      const proof = { transaction, events, infoProof: found.proof, epochEndings: [] }
      // A read over an async engine runs again once the missing values are loaded.
      if (!state.source.loading?.isLacking) checkTransactionProof(hasher, proof)
      return { kind: 'proven', proof }
    },
  }
}

/**
 * The proof of an event of a kept transaction, without epoch changes.
 * @param event BCS of the event
 * @throws as `LedgerTransaction.prove`
 */
export function proveEvent(
  state: LedgerState,
  version: bigint,
  event: Uint8Array,
  index: number,
): FoundProof<EventProof> {
  const stored = state.transactions.storedAt(version)
  if (!stored) return { kind: 'path_not_kept' }
  const { info, events } = completeTransaction(state, version, stored)
  const hasher = hasherOf(state, version)
  const found = findInfoProof(state, version, info, hasher)
  if (found.kind !== 'proven') return found
  const siblings = eventPath(new ByteReader(events), index, hasher)
  const proof = { event, index, siblings, infoProof: found.proof, epochEndings: [] }
  if (!state.source.loading?.isLacking) checkEventProof(hasher, proof)
  return { kind: 'proven', proof }
}

/**
 * The proof that a signed ledger info commits to the transaction info of a version, which has the root of the state if
 * the version ends a block.
 * @param state the newest state: later versions lead from the version to signatures
 * @throws as `LedgerTransaction.prove`
 */
export function proveStateOf(state: LedgerState, version: bigint): FoundProof<SignedCheckpoint> {
  const own = signedCheckpointAt(state, version)
  if (own) return { kind: 'proven', proof: own }
  const stored = state.transactions.storedAt(version)
  if (!stored) return { kind: 'path_not_kept' }
  const { info } = completeTransaction(state, version, stored)
  return findInfoProof(state, version, info, hasherOf(state, version))
}

/**
 * Everything that the ledger has of a transaction: the values of its write set come from the state, and the hashes are
 * computed.
 * @throws `stored_data_invalid` if that transaction does not have the stored hash
 */
function completeTransaction(state: LedgerState, version: bigint, stored: StoredTransaction): CompleteTransaction {
  const { transactions, source } = state
  const hasher = hasherOf(state, version)
  const lacks = source.loading?.lacks
  const known = stored.ownFacts ? stored.writeSet : withStateValues(state, version, stored.writeSet)
  // A read over an async engine runs again once the values are loaded.
  if (!known && source.loading?.lacks === lacks) throw storedDataInvalid.writesUnknown(version)
  const { transaction, events, indexInBlock } = stored
  const parts = { transaction, events, writeSet: known ?? stored.writeSet }
  const info = outlineToInfo(stored.outline, stored.hashesAt, parts, hasher)
  if (known && !hasher.hasHash('TransactionInfo', info, stored.leaf)) throw storedDataInvalid.infoDiffers(version)
  const accumulatorRoot = transactions.frontierAt(version)?.root() ?? stored.leaf
  return { ...parts, info, indexInBlock, accumulatorRoot }
}

function withStateValues({ transactions }: LedgerState, version: bigint, writeSet: Uint8Array): Uint8Array | undefined {
  const view = transactions.viewAt(version)
  return withValues(writeSet, (key) => view.get(key))
}

/** Makes a part of an answer: once, although a read over an async engine runs again. */
export function madeOnce<T extends string | Uint8Array>(state: LedgerState, name: string, make: () => T): T {
  const { loading } = state.source
  return loading ? loading.makeOnce(name, make) : make()
}

/** Renders the values of a version. */
export function renderContextAt(state: LedgerState, version: bigint): RenderContext {
  const { types, views, modules } = state.source
  const view = state.transactions.renderingViewAt(version)
  return { view, types, modules, interfaces: views.interfaces, hasher: hasherOf(state, version) }
}

function hasherOf({ transactions }: LedgerState, version: bigint): LedgerHasher {
  const { hasher } = transactions
  if (!hasher) throw new Error(`the store has no whole transaction of version ${version}`)
  return hasher
}

/** Hash of a stored transaction of a version of the state. */
export function hashAt(state: LedgerState, { transaction }: Pick<StoredTransaction, 'transaction'>): Uint8Array {
  return hasherOf(state, state.version).hash('Transaction', transaction)
}

/** The id of the block that a version begins; undefined if the store does not have its transaction. */
export function blockIdAt(state: LedgerState, firstVersion: bigint): Uint8Array | undefined {
  const stored = state.transactions.storedAt(firstVersion)
  if (!stored) return undefined
  try {
    const transaction = readTransaction(new ByteReader(stored.transaction))
    return transaction.kind === 'block_metadata' ? Uint8Array.from(transaction.id) : undefined
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_bcs')) return undefined
    throw error
  }
}
