import { atOnce, ByteReader, isLedgerStateError, type Steps } from '@ledger-state/core'
import type { EventProof, InfoProof, LedgerHasher, SignedCheckpoint, TransactionProof } from '@ledger-state/proof'
import { checkEventProof, checkInfoProof } from '@ledger-state/proof'
import { EventTree, eventRootInSteps, readTransaction } from '@ledger-state/proof/transactions'
import { withValuesInSteps } from '@ledger-state/records'
import { outlineToInfoInSteps, type StoredTransaction } from '@ledger-state/records/transaction-blocks'
import { storedDataInvalid } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { type FoundProof, findInfoProof, signedCheckpointAt } from './info-proof.js'
import type { RenderContext } from './render/render-context.js'
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
  /** The same in steps, after each of which others may have a turn. */
  toJsonInSteps(): Steps<string>
  /** The transaction with its info, events, accumulator root and write set in BCS, as full nodes answer. */
  toBcs(): Uint8Array
  /** The same in steps. */
  toBcsInSteps(): Steps<Uint8Array>
  /**
   * The proof of the transaction, without epoch changes.
   * @throws `version_truncated`; `stored_data_invalid`; `verification_failed` if the parts in the store do not fit
   * together
   */
  proveInSteps(): Steps<FoundProof<TransactionProof>>
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
  const { loading } = state.source
  let known: CompleteTransaction | undefined
  function* complete(): Steps<CompleteTransaction> {
    const made = known ?? (yield* completeTransaction(state, version, stored))
    // Over an async engine it may be incomplete.
    if (!loading) known = made
    return made
  }
  function* jsonInSteps(): Steps<string> {
    const { timestampUsec } = stored.ownFacts ?? state.source.reader.blockAt(version).block
    const whole = yield* complete()
    return yield* transactionToJson(renderContextAt(state, version), { version, whole, timestampUsec })
  }
  function* bcsInSteps(): Steps<Uint8Array> {
    return transactionToBcs(version, yield* complete())
  }
  const toJsonInSteps = () => madeOnceInSteps(state, `transaction ${version} as JSON`, jsonInSteps)
  const toBcsInSteps = () => madeOnceInSteps(state, `transaction ${version} in BCS`, bcsInSteps)
  return {
    version,
    indexInBlock: stored.indexInBlock,
    toJson: () => atOnce(toJsonInSteps()),
    toJsonInSteps,
    toBcs: () => atOnce(toBcsInSteps()),
    toBcsInSteps,
    *proveInSteps() {
      const { transaction, events, info } = yield* complete()
      const hasher = hasherOf(state, version)
      const found = findInfoProof(state, version, info, hasher)
      if (found.kind !== 'proven') return found
      // The hash of the info was compared, and so were the hashes of the transaction and its events in it. A read over
      // an async engine runs again once the missing values are loaded.
      if (!loading?.isLacking) checkInfoProof(hasher, found.proof)
      return { kind: 'proven', proof: { transaction, events, infoProof: found.proof, epochEndings: [] } }
    },
  }
}

/** Proves events of one transaction, without epoch changes. */
export interface EventProver {
  /**
   * The proof of the event at a place. All events are hashed once, for the first proof.
   * @param event BCS of the event
   * @throws as `LedgerTransaction.proveInSteps`
   */
  proveInSteps(event: Uint8Array, index: number): Steps<FoundProof<EventProof>>
}

/** Proves events of a kept transaction. */
export function createEventProver(state: LedgerState, version: bigint, stored: StoredTransaction): EventProver {
  const { loading } = state.source
  let known: { readonly found: FoundProof<InfoProof>; readonly tree: EventTree } | undefined
  function* begin(hasher: LedgerHasher): Steps<NonNullable<typeof known>> {
    const tree = yield* EventTree.inSteps(stored.events, hasher)
    const { info } = yield* completeTransaction(state, version, stored, tree.root)
    return { found: findInfoProof(state, version, info, hasher), tree }
  }
  return {
    *proveInSteps(event, index) {
      const hasher = hasherOf(state, version)
      known ??= yield* begin(hasher)
      const { found, tree } = known
      if (found.kind !== 'proven') return found
      const proof = { event, index, siblings: tree.pathOf(index), infoProof: found.proof, epochEndings: [] }
      if (!loading?.isLacking) checkEventProof(hasher, proof)
      return { kind: 'proven', proof }
    },
  }
}

/**
 * The proof that a signed ledger info commits to the transaction info of a version, which has the root of the state if
 * the version ends a block.
 * @param state the newest state: later versions lead from the version to signatures
 * @throws as `LedgerTransaction.proveInSteps`
 */
export function proveStateOf(state: LedgerState, version: bigint): FoundProof<SignedCheckpoint> {
  const own = signedCheckpointAt(state, version)
  if (own) return { kind: 'proven', proof: own }
  const stored = state.transactions.storedAt(version)
  if (!stored) return { kind: 'path_not_kept' }
  const { info } = atOnce(completeTransaction(state, version, stored))
  return findInfoProof(state, version, info, hasherOf(state, version))
}

/**
 * Everything that the ledger has of a transaction: the values of its write set come from the state, and the hashes are
 * computed.
 * @param eventRoot root of the events, if it is known
 * @throws `stored_data_invalid` if that transaction does not have the stored hash
 */
function* completeTransaction(
  state: LedgerState,
  version: bigint,
  stored: StoredTransaction,
  eventRoot?: Uint8Array,
): Steps<CompleteTransaction> {
  const { transactions, source } = state
  const hasher = hasherOf(state, version)
  const lacks = source.loading?.lacks
  const known = stored.ownFacts ? stored.writeSet : yield* withStateValues(state, version, stored.writeSet)
  // A read over an async engine runs again once the values are loaded.
  if (!known && source.loading?.lacks === lacks) throw storedDataInvalid.writesUnknown(version)
  const { transaction, events, indexInBlock } = stored
  const writeSet = known ?? stored.writeSet
  const root = eventRoot ?? (yield* eventRootInSteps(events, hasher))
  const hashed = { transaction, eventRoot: root, writeSet }
  const info = yield* outlineToInfoInSteps(stored.outline, stored.hashesAt, hashed, hasher)
  if (known && !hasher.hasHash('TransactionInfo', info, stored.leaf)) throw storedDataInvalid.infoDiffers(version)
  const accumulatorRoot = transactions.frontierAt(version)?.root() ?? stored.leaf
  return { transaction, events, writeSet, info, indexInBlock, accumulatorRoot }
}

function withStateValues(
  { transactions }: LedgerState,
  version: bigint,
  writeSet: Uint8Array,
): Steps<Uint8Array | undefined> {
  const view = transactions.viewAt(version)
  return withValuesInSteps(writeSet, (key) => view.get(key))
}

/** Makes a part of an answer: once, although a read over an async engine runs again. */
export function madeOnce<T extends string | Uint8Array>(state: LedgerState, name: string, make: () => T): T {
  const { loading } = state.source
  return loading ? loading.makeOnce(name, make) : make()
}

/** The same in steps. */
function madeOnceInSteps<T extends string | Uint8Array>(
  { source: { loading } }: LedgerState,
  name: string,
  make: () => Steps<T>,
): Steps<T> {
  return loading ? loading.makeOnceInSteps(name, make) : make()
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
