import { writeFileSync } from 'node:fs'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { writeLayout3Store } from '@ledger-state/state-engine/testing/layout-3-store'
import { expect } from 'vitest'
import type { CommandBed } from './command-bed.ts'
import { FEED_HEADER, feedRows } from './feed-rows.ts'

/** Ingests a ledger into the store `same`, and writes it as a store of layout 3, `old`. */
export async function makeLayout3Store(bed: CommandBed, versions: number): Promise<void> {
  writeFileSync(bed.at('feed.ndjson'), [FEED_HEADER, ...feedRows(0, versions)].join('\n'))
  expect(bed.ingest(bed.at('feed.ndjson'), 'same').status).toBe(0)
  const engine = openStateEngineReader({ path: bed.at('same') })
  const { chainId, latestVersion, oldestBlock } = engine.ledger!
  const first = [...engine.at(0n).scan(new Uint8Array(0))].map(({ key, value }) => [key, value] as const)
  const rest = [...engine.versions(1n, latestVersion)]
  const all = [{ version: 0n, block: oldestBlock, writes: first }, ...rest]
  await writeLayout3Store(bed.at('old'), { chainId, versions: all, ...(engine.mark && { mark: engine.mark }) })
  await engine.close()
}

export const UPGRADE = ['store', 'upgrade', '--data-dir', 'old', '--to', 'new'] as const
