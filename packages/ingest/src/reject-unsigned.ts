import { type AsyncStateWriter, engineToAsync, noLedger, type StateWriter } from '@ledger-state/engine'
import { decodeCommitMark, encodeCommitMark } from './commit-mark.js'
import { nothingSigned } from './errors.js'

/** What was cut off. */
export interface RejectedVersions {
  /** The newest signed version, which is the newest of the store now. */
  readonly signedVersion: bigint
  /** The newest version before; the same where nothing was unsigned. */
  readonly before: bigint
}

/**
 * Cuts off all versions of a store above the newest that validators signed.
 * @throws `no_ledger`; `untrusted` where no version of the window is signed: the store is then to be made anew
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
  const { ledger, mark } = await writer.snapshot()
  if (!ledger) throw noLedger()
  const { signed, pending } = decodeCommitMark(mark)
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
      signed: range,
      contradicted: undefined,
      pending,
    }),
  })
  return { signedVersion: signed.version, before }
}
