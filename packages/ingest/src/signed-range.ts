import { Buffer } from 'node:buffer'
import { ACCUMULATOR_ROOT_KEY } from '@ledger-state/core'
import type { AsyncSnapshot, AsyncStateWriter } from '@ledger-state/engine'
import { type LedgerSource, type SignedPoint, signedLedgerDiffers } from '@ledger-state/feed'
import { type CommitMark, type Contradiction, decodeCommitMark, encodeCommitMark } from './commit-mark.js'

/**
 * Compares the unsigned versions of a store with what a source shows that validators signed, and keeps how far they agree.
 * @throws `unsigned_contradicted` where they do not, or did not before; `untrusted`
 */
export async function compareWithSigned(writer: AsyncStateWriter, source: LedgerSource): Promise<void> {
  const state = await writer.snapshot()
  const { ledger } = state
  const mark = decodeCommitMark(state.mark)
  const { signed, contradicted } = mark
  if (contradicted) throw signedLedgerDiffers('the store', contradicted.epoch, contradicted.version)
  if (!ledger || !source.signedPoints || signed?.version === ledger.latestVersion) return
  const reading = {
    above: signed?.version ?? ledger.oldestVersion,
    upTo: ledger.latestVersion,
    vouching: signed,
    chainId: Number(ledger.chainId),
  }
  let agreed: SignedPoint | undefined
  for await (const point of source.signedPoints(reading)) {
    const answer = await compareAt(state, point)
    if (answer === 'differs') {
      await keepAgreed(writer, mark, agreed)
      throw signedLedgerDiffers(source.position, point.vouching.epoch, point.version)
    }
    if (answer === 'agrees') agreed = point
  }
  await keepAgreed(writer, mark, agreed)
}

/** Has the store remember that validators signed another ledger than it holds unsigned. */
export async function keepContradiction(writer: AsyncStateWriter, contradicted: Contradiction): Promise<void> {
  const mark = decodeCommitMark((await writer.snapshot()).mark)
  if (!mark.contradicted) await replaceMark(writer, { ...mark, contradicted })
}

/** Whether the ledger of a store is the signed one up to a version. Validators sign ends of blocks. */
async function compareAt(
  state: AsyncSnapshot,
  { version, accumulatorRoot }: SignedPoint,
): Promise<'agrees' | 'differs' | 'unknown'> {
  if (version < state.ledger!.oldestVersion) return 'unknown'
  const { lastVersion } = await state.blockAt(version)
  if (lastVersion !== version) return 'differs'
  const { revisions } = await state.history(ACCUMULATOR_ROOT_KEY, { first: version, last: version, limit: 1 })
  const root = revisions[0]?.value
  if (!root) return 'unknown'
  return Buffer.compare(root, accumulatorRoot) === 0 ? 'agrees' : 'differs'
}

/**
 * Keeps how far a store is signed, unless some of its versions were not proven. The ending stays the one that the store keeps:
 * no commit comes with these points.
 */
async function keepAgreed(writer: AsyncStateWriter, mark: CommitMark, agreed: SignedPoint | undefined): Promise<void> {
  if (!agreed || mark.isUnproven) return
  const { version, vouching } = agreed
  const signed = { version, ...vouching, ending: mark.signed?.ending ?? vouching.waypoint }
  await replaceMark(writer, { ...mark, signed })
}

/** Gives a store another mark. A truncation at the newest version cuts nothing off. */
export async function replaceMark(writer: AsyncStateWriter, mark: CommitMark): Promise<void> {
  await writer.truncateTo(writer.ledger!.latestVersion, { mark: encodeCommitMark(mark) })
}
