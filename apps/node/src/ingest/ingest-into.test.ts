// A signal that comes after the last version: while files are merged, and while an imported state is checked.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSource } from '@ledger-state/feed'
import { SYNTHETIC_CHAIN_ID, SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FEED_HEADER, feedRows } from '../../testing/feed-rows.ts'
import type { Stop } from '../terminal/stop-signal.js'
import { type IngestIntoOptions, ingestInto } from './ingest-into.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ingest-into-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true, force: true })
})

const at = (name: string) => join(folder, name)

const never: Stop = { signal: new AbortController().signal, by: () => undefined }

/** A stop in the turn after the command has asked, at the end of the source, whether one came. */
function stopAfterSource(): Stop {
  const { signal, abort } = abortable()
  return {
    signal,
    by() {
      if (signal.aborted) return 'SIGINT'
      setImmediate(abort)
      return undefined
    },
  }
}

/** A stop as soon as a line with a text is printed on standard error. */
function stopAtLine(text: string): Stop {
  const { signal, abort } = abortable()
  vi.spyOn(process.stderr, 'write').mockImplementation((line) => {
    if (String(line).includes(text)) abort()
    return true
  })
  return { signal, by: () => (signal.aborted ? 'SIGINT' : undefined) }
}

function abortable() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

async function ingest(location: string, stop: Stop, options: Partial<IngestIntoOptions> = {}): Promise<void> {
  const source = await openSource(location, { thread: false, unsigned: true })
  const place = { kind: 'folder', dataDir: at('store') } as const
  await ingestInto(place, source, { ...options, location, openAgain: undefined, stop })
}

it('ends the merges, and the same command merges the rest', async () => {
  writeFileSync(at('feed.ndjson'), [FEED_HEADER, ...feedRows(0, 3_000)].join('\n'))
  await expect(ingest(at('feed.ndjson'), stopAfterSource())).rejects.toMatchObject({
    code: 'stopped',
    message: expect.stringMatching(
      /^stopped by SIGINT: 3,000 versions, .* holds versions 0 to 2999, not merged yet; run the same command again/,
    ),
  })
  await ingest(at('feed.ndjson'), never)
  const engine = openStateEngineReader({ path: at('store') })
  expect(engine.ledger!.latestVersion).toBe(2_999n)
  expect(engine.stats.memtableEntries).toBe(0)
  await engine.close()
})

it('ends the check of an imported state, and says that it was not checked', async () => {
  const chain = new SyntheticChain({ blocks: 12 })
  mkdirSync(at('backup'))
  const version = chain.records.findLastIndex(({ info }) => info[9] === 0 && info[106] === 1)
  const snapshot = writeBackup(chain, at('backup'), { snapshot: { version, chunk: 20 } })
  await expect(
    ingest(snapshot, stopAtLine('ingested: '), { chainId: SYNTHETIC_CHAIN_ID, checkStateRoot: true }),
  ).rejects.toMatchObject({
    code: 'stopped',
    message: expect.stringMatching(/^stopped by SIGINT: the imported state is in the store, but was not checked; /),
  })
})
