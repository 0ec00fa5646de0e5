// An ingest that is killed at any moment resumes after the last durable batch, with the same outcome.
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import type { Random } from '@ledger-state/testing/random'
import { hasSharedData, sharedPath } from '@ledger-state/testing/shared-data'
import { fullRounds } from '@ledger-state/testing/test-scale'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { FEED_HEADER, feedRows } from '../../testing/feed-rows.ts'
import { testRandom } from '../../testing/test-random.ts'

/** Kills for each kind of source; TEST_SCALE=6 takes two minutes. */
const KILLS = fullRounds(8)
const PROGRAM_START_MS = 80

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

/** Kills an ingest into `store` again and again, lets it end, and expects the outcome of a single run. */
async function expectSameOutcome(random: Random, source: string, longestMs: number, options: readonly string[] = []) {
  bed.ingest(source, 'whole', ...options)
  for (let kill = 0; kill < KILLS; kill++) {
    const { child, ended } = bed.start('ingest', source, '--data-dir', bed.at('store'), ...options)
    await sleep(PROGRAM_START_MS + random.below(longestMs))
    child.kill('SIGKILL')
    await ended
  }
  const last = bed.ingest(source, 'store', ...options)
  expect([last.status, last.stderr]).toEqual([0, expect.stringMatching(/ingested/)])
  expect(await bed.digest('store')).toBe(await bed.digest('whole'))
}

describe('an ingest that is killed', () => {
  it('resumes a feed', async () => {
    writeFileSync(bed.at('feed.ndjson'), [FEED_HEADER, ...feedRows(0, 20_000)].join('\n'))
    await expectSameOutcome(testRandom(), bed.at('feed.ndjson'), 300)
  })

  it('resumes a backup', async () => {
    const chain = new SyntheticChain({ blocks: 250 })
    writeBackup(chain, bed.at('backup'), { chunk: 40 })
    await expectSameOutcome(testRandom(), bed.at('backup'), 400, ['--to', String(chain.latestVersion)])
  })

  it('resumes a state', async () => {
    const chain = new SyntheticChain({ blocks: 60 })
    const version = chain.records.findLastIndex(({ info }, at) => at < 150 && info[9] === 0 && info[106] === 1)
    const snapshot = writeBackup(chain, bed.at('backup'), { snapshot: { version, chunk: 3 } })
    await expectSameOutcome(testRandom(), snapshot, 250)
  })

  it.skipIf(!hasSharedData)('resumes the backup of a real chain', async () => {
    const options = ['--assume-empty-base', '--hash-salt', 'DIEM::']
    await expectSameOutcome(testRandom(), sharedPath('data/backup'), 1_300, options)
    expect(await bed.info('store')).toMatchObject({ ledger_version: '20000', block_height: '9408' })
  })
})
