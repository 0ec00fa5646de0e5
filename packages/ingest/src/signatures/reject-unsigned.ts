import {
  type AsyncSnapshot,
  type AsyncStateWriter,
  engineToAsync,
  noLedger,
  type StateWriter,
} from '@ledger-state/engine'
import {
  bytesToCheckpoint,
  CHECKPOINT_KEY,
  decodeCommitMark,
  EPOCH_ENDING_PREFIX,
  encodeCommitMark,
  type PendingWrite,
} from '@ledger-state/records'
import { nothingSigned } from '../errors.js'
import { pendingEndings, pendingValues, toPending } from './pending-writes.js'

/** Versions that were cut off. */
export interface RejectedVersions {
  /** The newest signed version, which is now the newest of the store. */
  readonly signedVersion: bigint
  /** The newest version before the cut; the same if nothing was unsigned. */
  readonly before: bigint
}

/**
 * Cuts off all versions of a store above the newest one that validators signed. Epoch changes and a checkpoint that
 * the removed versions wrote to verify older ones become pending again, as far as they fit into a mark.
 * @throws `no_ledger`; `untrusted` if no version of the window is signed: then ingest into a new store
 * @example
 * ```ts
 * import { createMemoryEngine } from '@ledger-state/engine'
 * import { rejectUnsigned } from '@ledger-state/ingest'
 *
 * const engine = createMemoryEngine()
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await engine.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
 * await rejectUnsigned(engine).catch((error) => console.log(error.code)) // untrusted
 * ```
 */
export async function rejectUnsigned(engine: StateWriter | AsyncStateWriter): Promise<RejectedVersions> {
  const writer = engine.kind === 'sync' ? engineToAsync(engine) : engine
  const state = await writer.snapshot()
  const { ledger } = state
  if (!ledger) throw noLedger()
  const { signed, hashSalt } = decodeCommitMark(state.mark)
  if (!signed || signed.version < ledger.oldestVersion) throw nothingSigned(ledger.oldestVersion)
  const before = ledger.latestVersion
  if (signed.version >= before) return { signedVersion: before, before }
  const { resume, ...range } = signed
  await writer.truncateTo(signed.version, {
    mark: encodeCommitMark({
      isUnproven: false,
      source: resume?.source,
      writesHash: resume?.writesHash,
      wholeHash: resume?.wholeHash,
      hashSalt,
      signed: range,
      contradicted: undefined,
      pending: await pendingBelow(state, signed.version),
    }),
  })
  return { signedVersion: signed.version, before }
}

/** Writes that become pending once all versions above one are cut off. */
async function pendingBelow(state: AsyncSnapshot, version: bigint): Promise<readonly PendingWrite[]> {
  const endings = [...(await endingsAbove(state, version)), ...pendingEndings(state.mark)]
  const checkpoint = pendingValues(state.mark)(CHECKPOINT_KEY) ?? (await checkpointAbove(state, version))
  return toPending([], endings, checkpoint).pending
}

/** The epoch changes that versions above one wrote, in order. */
async function endingsAbove(state: AsyncSnapshot, version: bigint): Promise<PendingWrite[]> {
  const found: PendingWrite[] = []
  for (let start: Uint8Array | undefined = EPOCH_ENDING_PREFIX; start; ) {
    const page = await state.at().scan(EPOCH_ENDING_PREFIX, { start })
    for (const entry of page.entries) if (entry.version > version) found.push([entry.key, entry.value])
    start = page.next
  }
  return found
}

/** The newest checkpoint that versions above a version wrote and that is of this version or an older one. */
async function checkpointAbove(state: AsyncSnapshot, version: bigint): Promise<Uint8Array | undefined> {
  for (let last: bigint | undefined = state.ledger!.latestVersion; last !== undefined; ) {
    const page = await state.history(CHECKPOINT_KEY, { first: version + 1n, last })
    for (const { value } of page.revisions) if (value && bytesToCheckpoint(value).version <= version) return value
    last = page.next
  }
  return undefined
}
