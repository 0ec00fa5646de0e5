import { Buffer } from 'node:buffer'
import { ACCUMULATOR_ROOT_KEY } from '@ledger-state/core'
import type { AsyncSnapshot, AsyncStateWriter } from '@ledger-state/engine'
import type { LedgerSource, SignedPoint } from '@ledger-state/feed'
import { type CommitMark, type Contradiction, decodeCommitMark, encodeCommitMark } from './commit-mark.js'
import { storeContradicted } from './errors.js'

/**
 * Compares the unsigned versions of a store with what a source shows that validators signed, and keeps how far they agree.
 * @throws `unsigned_contradicted` where they do not; `untrusted`
 */
export async function compareWithSigned(writer: AsyncStateWriter, source: LedgerSource): Promise<void> {
  const state = await writer.snapshot()
  const { ledger } = state
  const mark = decodeCommitMark(state.mark)
  const { signed } = mark
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
      throw storeContradicted(source.position, { version: point.version, epoch: point.vouching.epoch })
    }
    if (answer === 'agrees') agreed = point
  }
  await keepAgreed(writer, mark, agreed)
}

/** Has the store remember that validators signed another ledger than it holds unsigned. */
export async function keepContradiction(writer: AsyncStateWriter, contradicted: Contradiction): Promise<void> {
  const { mark } = await writer.snapshot()
  await replaceMark(writer, { ...decodeCommitMark(mark), contradicted })
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

/** The ending stays the one that the store keeps: no commit comes with these points. */
async function keepAgreed(writer: AsyncStateWriter, mark: CommitMark, agreed: SignedPoint | undefined): Promise<void> {
  if (!agreed) return
  const { version, vouching } = agreed
  const signed = { version, ...vouching, ending: mark.signed?.ending ?? vouching.waypoint }
  await replaceMark(writer, { ...mark, signed })
}

/** A truncation at the newest version cuts nothing off. */
async function replaceMark(writer: AsyncStateWriter, mark: CommitMark): Promise<void> {
  await writer.truncateTo(writer.ledger!.latestVersion, { mark: encodeCommitMark(mark) })
}
