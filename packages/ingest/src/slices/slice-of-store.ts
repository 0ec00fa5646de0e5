import {
  type AsyncStateWriter,
  engineToAsync,
  noLedger,
  type StateEngineReader,
  type StateWriter,
} from '@ledger-state/engine'
import type { LedgerSource } from '@ledger-state/feed'
import { type CommitMark, decodeCommitMark, encodeCommitMark, type SignedRange, SLICE_KEY } from '@ledger-state/records'
import { type SliceOptions, sourceKeepsSlice } from '@ledger-state/slices/take'
import { CountedIngest, type IngestCounters } from '../commit/counters.js'
import type { IngestOptions } from '../commit/ingest-options.js'
import { ingestWith } from '../commit/ingest-source.js'
import { storeToSource } from './store-source.js'

/** Options for making a slice from a store. */
export interface SliceOfStoreOptions extends Omit<IngestOptions, 'only' | 'from' | 'to' | 'assumeEmptyBase'> {
  readonly only: Omit<SliceOptions<LedgerSource>, 'reopen'>
  /** Name of the whole store, for messages. */
  readonly description: string
}

/**
 * Fills an empty store with a slice of another store that keeps everything: the state at its oldest version, and the
 * versions after it. The slice takes over the other store's mark: the hash of all its writes, the signed range, and the
 * mark of its source. A feed of that store is later compared with the hash. The same call resumes an ingest that was
 * cut short.
 * @throws `no_ledger`, `slice_mismatch`, `slice_unbounded`, and errors of the stores
 * @example
 * ```ts
 * import { createMemoryEngine } from '@ledger-state/engine'
 * import { ingestSliceOfStore } from '@ledger-state/ingest'
 * import { parseSliceSpec } from '@ledger-state/slices'
 *
 * const whole = createMemoryEngine()
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * await whole.commit([{ version: 0n, block, writes: [] }], { chainId: 1 })
 * const slice = createMemoryEngine()
 * const only = { spec: parseSliceSpec({ accounts: ['0xcafe'] }) }
 * await ingestSliceOfStore(slice, whole, { only, description: 'another store' })
 * console.log(slice.ledger?.latestVersion) // 0n
 * ```
 */
export async function ingestSliceOfStore(
  engine: StateWriter | AsyncStateWriter,
  whole: StateEngineReader,
  { only, description, ...options }: SliceOfStoreOptions,
): Promise<IngestCounters> {
  if (!whole.ledger) throw noLedger()
  if (whole.at().get(SLICE_KEY)) throw sourceKeepsSlice(description)
  const writer = engine.kind === 'sync' ? engineToAsync(engine) : engine
  const open = () => storeToSource(whole, description)
  const { oldestVersion, latestVersion } = whole.ledger
  const ofWhole = decodeCommitMark(whole.mark)
  const counters = new CountedIngest(writer.ledger?.latestVersion)
  // Pauses at the newest signed version, so that the slice's mark at that version is known.
  const signed = ofWhole.signed?.version ?? latestVersion
  for (const to of signed >= oldestVersion && signed < latestVersion ? [signed, latestVersion] : [latestVersion]) {
    const held = writer.ledger?.latestVersion
    if (held === undefined || held < to) {
      const how = { ...options, to, only: { ...only, reopen: async () => open() }, assumeEmptyBase: true }
      await ingestWith(writer, open(), how, counters)
    }
    if (options.signal?.aborted) return counters
    if (writer.ledger?.latestVersion === to) await adoptMark(writer, ofWhole, to, latestVersion)
  }
  return counters
}

/** Copies the hashes and the signed range of the whole store, up to a version, into the mark of a slice. */
async function adoptMark(writer: AsyncStateWriter, whole: CommitMark, version: bigint, latest: bigint): Promise<void> {
  const { writesHash, signed } = decodeCommitMark((await writer.snapshot()).mark)
  if (version === latest) {
    const range = whole.signed && { ...whole.signed, resume: resumeOf(whole.signed, signed) }
    await writer.putMark(encodeCommitMark({ ...whole, writesHash, wholeHash: whole.writesHash, signed: range }))
  } else if (version === whole.signed?.version) {
    const { resume, ...range } = whole.signed
    const { source, writesHash: wholeHash } = resume ?? {}
    await writer.putMark(
      encodeCommitMark({
        isUnproven: whole.isUnproven,
        source,
        writesHash,
        wholeHash,
        hashSalt: whole.hashSalt,
        signed: range,
        contradicted: undefined,
        pending: [],
      }),
    )
  }
}

/**
 * Resume point of the mark of a slice at the newest signed version.
 * @param held ledger of the slice, with its ingest paused at that version
 */
function resumeOf({ version, resume }: SignedRange, held: SignedRange | undefined): SignedRange['resume'] {
  if (!resume) return undefined
  const own = held?.version === version ? held.resume?.writesHash : undefined
  return { source: resume.source, writesHash: own, wholeHash: resume.writesHash }
}
