// The stored result of an ingest of a backup, and the version up to which it counts as signed.
import { Buffer } from 'node:buffer'
import { createMemoryEngine } from '@ledger-state/engine'
import { openSource, type SourceOptions } from '@ledger-state/feed'
import { decodeCommitMark, isOwnKey, type SignedRange } from '@ledger-state/records'
import type { IngestOptions } from '../src/commit/ingest-options.js'
import { ingestSource } from '../src/commit/ingest-source.js'
import { readEpochEndings } from '../src/signatures/epoch-endings.js'

export interface IngestOutcome {
  readonly error: unknown
  readonly latestVersion: bigint | undefined
  readonly signed: SignedRange | undefined
  /** The ledger and its state at the oldest version, as a text. */
  readonly base: string
  /** Each later version, as a text. */
  readonly versions: readonly string[]
  /** The epoch changes that the store keeps, in hex. */
  readonly endings: readonly string[]
}

/** Ingests a backup, or one folder of it, into an empty store. */
export async function ingestOutcome(location: string, options: SourceOptions & IngestOptions): Promise<IngestOutcome> {
  const engine = createMemoryEngine()
  let error: unknown
  try {
    const source = await openSource(location, { thread: false, endingsAlone: true, ...options })
    try {
      await ingestSource(engine, source, options)
    } finally {
      await source.close()
    }
  } catch (thrown) {
    error = thrown
  }
  const { ledger, mark } = engine
  const { signed } = decodeCommitMark(mark)
  if (!ledger) return { error, latestVersion: undefined, signed, base: '', versions: [], endings: [] }
  const { chainId, oldestVersion, oldestBlock, latestVersion } = ledger
  const state = [...engine.at(oldestVersion).scan(new Uint8Array(0))].filter(({ key }) => !isOwnKey(key))
  const after = oldestVersion < latestVersion ? [...engine.versions(oldestVersion + 1n, latestVersion)] : []
  const versions = after.map(({ writes, ...rest }) =>
    toText({ ...rest, writes: writes.filter(([key]) => !isOwnKey(key)) }),
  )
  const endings: string[] = []
  for await (const { bytes } of readEpochEndings(engine)) endings.push(Buffer.from(bytes).toString('hex'))
  return {
    error,
    latestVersion,
    signed,
    base: toText({ chainId, oldestVersion, oldestBlock, state }),
    versions,
    endings,
  }
}

function toText(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) => {
    if (typeof member === 'bigint') return `${member}n`
    return member instanceof Uint8Array ? Buffer.from(member).toString('hex') : member
  })
}
