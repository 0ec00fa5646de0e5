import { Buffer } from 'node:buffer'
import type { AsyncSnapshot, AsyncStateWriter } from '@ledger-state/engine'
import { type LedgerSource, type SignedVersion, signedLedgerDiffers } from '@ledger-state/feed'
import {
  type CommitMark,
  type Contradiction,
  decodeCommitMark,
  encodeCommitMark,
  type PendingWrite,
  type ResumeToken,
  type SignedRange,
  SLICE_KEY,
} from '@ledger-state/records'
import type { PackedEpochChange } from '@ledger-state/records/epoch-change'
import { keyName } from '@ledger-state/records/writes-hash'
import { readNewestCheckpoint } from './checkpoints.js'
import { endingWrites } from './epoch-endings.js'
import { toPending } from './pending-writes.js'
import { rootAt } from './root-at.js'

/**
 * Compares the unsigned versions of a store with the points that validators signed, as a source shows them. The store
 * keeps up to which version they agree, the epoch changes that prove it, and a checkpoint.
 * @returns the epoch changes that the source has checked and the store does not keep yet
 * @throws `unsigned_contradicted` if they do not agree, now or in an earlier comparison; `untrusted`
 */
export async function compareWithSigned(
  writer: AsyncStateWriter,
  source: LedgerSource,
): Promise<readonly PackedEpochChange[]> {
  const state = await writer.snapshot()
  const { ledger } = state
  const mark = decodeCommitMark(state.mark)
  const { signed, contradicted } = mark
  if (contradicted) throw signedLedgerDiffers('the store', contradicted.epoch, contradicted.version)
  if (!ledger || !source.signedPoints || signed?.version === ledger.latestVersion) return []
  const reading = {
    above: signed?.version ?? ledger.oldestVersion,
    upTo: ledger.latestVersion,
    trustedState: signed,
    chainId: Number(ledger.chainId),
    checkpointAbove: await checkpointBound(state, mark),
  }
  const known = { ...mark, hashSalt: source.hashSalt ?? mark.hashSalt }
  let agreed: SignedVersion | undefined
  let ofCheckpoint: SignedVersion | undefined
  for await (const point of source.signedPoints(reading)) {
    const answer = await compareAt(state, point)
    if (answer === 'differs') {
      await keepAgreed(writer, known, agreed, undefined, [])
      throw signedLedgerDiffers(source.position, point.trustedState.epoch, point.version)
    }
    if (answer !== 'agrees') continue
    if (point.checkpoint) ofCheckpoint = point
    if (!agreed || point.version > agreed.version) agreed = point
  }
  const endings = source.takeEndings?.() ?? []
  const taken = await keepAgreed(writer, known, agreed, ofCheckpoint, endings)
  await keepSalt(writer, source.hashSalt)
  return endings.slice(taken)
}

/** Version above which a checkpoint is news; undefined if the store has no use for one. */
async function checkpointBound(state: AsyncSnapshot, mark: CommitMark): Promise<bigint | undefined> {
  const [slice] = await state.at().load([SLICE_KEY])
  if (slice || mark.isUnproven) return undefined
  const { oldestVersion } = state.ledger!
  const held = await readNewestCheckpoint(state)
  return held && held.version > oldestVersion ? held.version : oldestVersion
}

/** Remembers the word before the names of the hashes, for a store that does not know it: one that came from a feed. */
async function keepSalt(writer: AsyncStateWriter, hashSalt: string | undefined): Promise<void> {
  const mark = decodeCommitMark((await writer.snapshot()).mark)
  if (hashSalt !== undefined && mark.hashSalt === undefined)
    await writer.putMark(encodeCommitMark({ ...mark, hashSalt }))
}

/** Notes in a store that validators signed a ledger that differs from its unsigned versions. */
export async function keepContradiction(writer: AsyncStateWriter, contradicted: Contradiction): Promise<void> {
  const mark = decodeCommitMark((await writer.snapshot()).mark)
  if (!mark.contradicted) await writer.putMark(encodeCommitMark({ ...mark, contradicted }))
}

/** Compares the ledger of a store with a signed point. Validators sign only ends of blocks. */
async function compareAt(
  state: AsyncSnapshot,
  { version, accumulatorRoot }: SignedVersion,
): Promise<'agrees' | 'differs' | 'unknown'> {
  if (version < state.ledger!.oldestVersion) return 'unknown'
  const { lastVersion } = await state.blockAt(version)
  if (lastVersion !== version) return 'differs'
  const root = await rootAt(state, version)
  if (!root) return 'unknown'
  return Buffer.compare(root, accumulatorRoot) === 0 ? 'agrees' : 'differs'
}

/**
 * Keeps up to which version a store is signed, with epoch changes and a checkpoint, unless some of its versions were
 * not proven. The `ending` of the mark stays, because the pending endings may be cut off together with the version that
 * gets them.
 * @returns number of the epoch changes that the store has now
 */
async function keepAgreed(
  writer: AsyncStateWriter,
  mark: CommitMark,
  agreed: SignedVersion | undefined,
  ofCheckpoint: SignedVersion | undefined,
  endings: readonly PackedEpochChange[],
): Promise<number> {
  if (!agreed || mark.isUnproven) return 0
  const { version, trustedState } = agreed
  const { signed: before } = mark
  const isFurther = before === undefined || version > before.version
  const range = isFurther ? { version, ...trustedState, ending: before?.ending ?? trustedState.waypoint } : before
  const signed = { ...range, resume: resumeOf(before, isFurther, ofCheckpoint?.mark) }
  const kept = new Set(mark.pending.map(([key]) => keyName(key)))
  const writes = await endingWrites(await writer.snapshot(), endings)
  const news = writes.map(([key, value]): PendingWrite => [key, value!]).filter(([key]) => !kept.has(keyName(key)))
  const { pending, taken } = toPending(mark.pending, news, ofCheckpoint?.checkpoint)
  await writer.putMark(encodeCommitMark({ ...mark, signed, pending }))
  return taken === news.length ? endings.length : 0
}

/**
 * Resume token for a store that is later cut off at the newest signed version.
 * @param before signed range of the store before
 * @param source mark of the source after a signed version
 */
function resumeOf(
  before: SignedRange | undefined,
  isFurther: boolean,
  source: Uint8Array | undefined,
): ResumeToken | undefined {
  const held = before?.resume
  // A resume token with a hash of the writes belongs to the signed version itself.
  if (!isFurther && held?.writesHash) return held
  const newest = source ?? held?.source
  return newest && { source: newest, writesHash: undefined, wholeHash: undefined }
}
