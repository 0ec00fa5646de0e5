import { isLedgerStateError, type LedgerStateError } from '@ledger-state/core'
import { type AsyncStateWriter, engineToAsync, type StateWriter } from '@ledger-state/engine'
import { FailureStreak, type LedgerSource } from '@ledger-state/feed'
import { CountedIngest, type IngestCounters } from './counters.js'
import { chainsContradict } from './errors.js'
import type { IngestOptions } from './ingest-options.js'
import { ingestWith } from './ingest-source.js'

/** How a source is followed. */
export interface FollowOptions extends IngestOptions {
  /** Pause after the first failure, 250 ms by default; it doubles with each further failure. */
  readonly firstPauseMs?: number | undefined
}

/**
 * Ingests a live source, as `ingestSource` does, until it is stopped. After an answer that would end the ingest, such as one of
 * another chain or of a fork, the source is opened anew. Only a failure that three answers in a row show is thrown; a commit
 * between them begins a new row. Closes the sources, and leaves the store open.
 * @param source opened already; `reopen` opens it again
 * @throws failures of the store at once; those of the source once they are believed
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

/** Whether what the source says is at fault, and not this store, this program or its caller. */
function isOfSource(error: unknown): error is LedgerStateError {
  if (!isLedgerStateError(error)) return false
  return !error.code.startsWith('store_') && !['unavailable', 'invalid_argument'].includes(error.code)
}

/** An empty store is of no chain yet: the first answer, which named one, may be the one that is wrong. */
function isAboutUnknownChain(error: LedgerStateError, { ledger }: AsyncStateWriter, { chainId }: IngestOptions) {
  return error.code === 'chain_id_mismatch' && ledger === undefined && chainId === undefined
}
