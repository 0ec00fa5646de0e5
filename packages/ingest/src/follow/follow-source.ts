import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'
import { type AsyncStateWriter, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { FailureStreak, type LedgerSource } from '@ledger-state/feed'
import { CountedIngest, type IngestCounters } from '../commit/counters.js'
import type { IngestOptions } from '../commit/ingest-options.js'
import { ingestWith } from '../commit/ingest-source.js'
import { chainsContradict } from '../errors.js'

/** Options for following a source. */
export interface FollowOptions extends IngestOptions {
  /** Pause after the first failure, 250 ms by default; it doubles with each further failure. */
  readonly firstPauseMs?: number | undefined
}

/**
 * Ingests a live source, as `ingestSource` does, until it is stopped. After an answer that ends an ingest, such as one
 * that shows another chain or a fork, the source is opened again. A failure is thrown only after three answers in a row
 * have shown it; a commit in between restarts the count. Closes the sources, and leaves the store open.
 * @param source an open source; `reopen` opens it again
 * @throws failures of the store at once; failures of the source once three answers in a row have shown them
 * @example
 * ```ts
 * import { writeFileSync } from 'node:fs'
 * import { feedHeaderLine, openSource, versionToFeedLine } from '@ledger-state/feed'
 * import { followSource } from '@ledger-state/ingest'
 * import { createMemoryEngine } from '@ledger-state/engine'
 *
 * const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
 * const lines = [feedHeaderLine({ chainId: 4 }), versionToFeedLine({ version: 0n, block, writes: [] })]
 * writeFileSync('followed.ndjson', `${lines.join('\n')}\n`)
 *
 * const open = () => openSource('followed.ndjson') // or the URL of a node, with { follow: true }
 * const { versions } = await followSource(createMemoryEngine(), await open(), open)
 * console.log(versions) // 1
 * ```
 */
export async function followSource(
  engine: StateWriter | AsyncStateWriter,
  source: LedgerSource,
  reopen: () => Promise<LedgerSource>,
  options: FollowOptions = {},
): Promise<IngestCounters> {
  const writer = engine.kind === 'sync' ? engineToAsync(engine) : engine
  const { ledger } = await writer.snapshot()
  const counters = new CountedIngest(ledger?.latestVersion)
  const { signal, onNotice, firstPauseMs } = options
  const streak = new FailureStreak({ onNotice, firstPauseMs })
  for (let open = async () => source; ; open = reopen) {
    const before = counters.latestVersion
    try {
      await ingestOnce(writer, await open(), options, counters)
      return counters
    } catch (error) {
      if (signal?.aborted && isOfSource(error)) return counters
      if (!isOfSource(error)) throw error
      if (counters.latestVersion !== before) streak.end()
      await streak.add(isAboutUnknownChain(error, writer, options) ? chainsContradict(error) : error, signal)
    }
    if (signal?.aborted) return counters
  }
}

async function ingestOnce(
  writer: AsyncStateWriter,
  source: LedgerSource,
  options: IngestOptions,
  counters: CountedIngest,
): Promise<void> {
  try {
    await ingestWith(writer, source, options, counters)
  } finally {
    await source.close()
  }
}

/** Whether an error is about an answer of the source, and not about this store, this program or its caller. */
function isOfSource(error: unknown): error is LedgerStateError {
  if (!isLedgerStateError(error)) return false
  return !error.code.startsWith('store_') && !['unavailable', 'invalid_argument'].includes(error.code)
}

/**
 * Whether an error is about the chain of an empty store, which has none yet: the wrong answer may be the first one,
 * which named the chain.
 */
function isAboutUnknownChain(error: LedgerStateError, { ledger }: AsyncStateWriter, { chainId }: IngestOptions) {
  return error.code === 'chain_id_mismatch' && ledger === undefined && chainId === undefined
}
