import { ByteReader } from '@ledger-state/core'
import {
  computeWaypoint,
  ENDING_BYTES_AT_ONCE,
  ENDINGS_AT_ONCE,
  EpochChangeVerifier,
  LedgerHasher,
  readLedgerInfo,
  type SignedLedgerInfo,
} from '@ledger-state/proof'
import { loadBls } from './load-bls.js'

/** Result of a check of epoch changes that follow from a waypoint. */
export interface CheckedEndings {
  readonly count: number
  /** Epochs of the first and of the last ending; undefined if there is none. */
  readonly epochs: readonly [bigint, bigint] | undefined
  /** The waypoint of the last ending. */
  readonly newestWaypoint: string | undefined
}

/**
 * Checks that epoch changes follow from a trusted waypoint: the first has it, and each further one is signed by a
 * quorum of the validators that the previous one announced.
 * @param endings BCS of ledger infos with signatures, in the order of their epochs
 * @param waypoints trusted points, each `version:hash`
 * @param hashSalt the word before the name of each hash, `APTOS::` by default
 * @throws `untrusted` naming the first epoch that does not follow; `invalid_argument`, `invalid_bcs`
 * @example
 * ```ts
 * import { checkEndings } from '@ledger-state/feed'
 *
 * const waypoint = '0:6072b68a942aace147e0655c5704beaa255c84a7829baa4e72a500f1516584c4'
 * const { count } = await checkEndings([], [waypoint])
 * console.log(count) // 0
 * ```
 */
export async function checkEndings(
  endings: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  waypoints: readonly string[],
  hashSalt?: string,
): Promise<CheckedEndings> {
  const hasher = new LedgerHasher(hashSalt)
  const history = new EpochChangeVerifier(hasher, await loadBls(), waypoints)
  let [count, first, last]: [number, SignedLedgerInfo | undefined, SignedLedgerInfo | undefined] = [
    0,
    undefined,
    undefined,
  ]
  let batch: SignedLedgerInfo[] = []
  let batchBytes = 0
  for await (const bytes of endings) {
    const info = readLedgerInfo(new ByteReader(bytes))
    count++
    first ??= info
    last = info
    batchBytes += bytes.length
    if (batch.push(info) < ENDINGS_AT_ONCE && batchBytes <= ENDING_BYTES_AT_ONCE) continue
    history.verify(batch)
    batch = []
    batchBytes = 0
  }
  history.verify(batch)
  const epochs = first && last && ([first.epoch, last.epoch] as const)
  return { count, epochs, newestWaypoint: last && computeWaypoint(hasher, last) }
}
