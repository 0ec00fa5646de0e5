import type { LedgerSource } from '@ledger-state/feed'
import { verifySource } from '@ledger-state/ingest'
import { stoppedBy } from '../errors.js'
import type { Stop } from '../terminal/stop-signal.js'
import { describeTrustedState } from '../terminal/trusted-state.js'
import { describeIngested, durationSince, notice } from './ingest-notice.js'
import { createIngestProgress } from './ingest-progress.js'
import { asStopped } from './open-to-ingest.js'

const NOT_READ = 'the rest was not read, and nothing is kept; the same command begins again'

/**
 * Reads and proves a source without a store, and prints its content on standard error.
 * @throws `stopped` if a signal cut it short
 */
export async function proveSource(
  source: LedgerSource,
  { stop, ...range }: { readonly from: bigint | undefined; readonly to: bigint | undefined; readonly stop: Stop },
): Promise<void> {
  const began = performance.now()
  const progress = createIngestProgress(process.stderr, 'proving', source)
  const verified = await verifySource(source, { ...range, signal: stop.signal, progress }).catch((error: unknown) => {
    throw asStopped(error, stop, NOT_READ)
  })
  const { firstVersion, latestVersion, isProven, trustedState } = verified
  const covered = firstVersion === undefined ? '' : ` (${firstVersion} to ${latestVersion})`
  const what = `${describeIngested(source, verified, covered)} in the ${source.description}, in ${durationSince(began)}`
  const signal = stop.by()
  if (signal) throw stoppedBy(signal, `${what}; ${NOT_READ}`)
  if (trustedState && latestVersion === undefined) {
    notice(
      `sound: the validators of the epochs up to ${trustedState.epoch} are verified from the waypoint ${trustedState.waypoint}`,
    )
    return
  }
  const signed = trustedState ? `; signed ${describeTrustedState(trustedState)}` : ''
  notice(`${isProven ? 'sound' : 'read without proofs'}: ${what}${signed}`)
}
