// Ingest of ledger feeds: what it accepts, where it stops, and how it resumes.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { openStateEngine } from '@ledger-state/state-engine'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { FEED_HEADER, feedRow, feedRows } from '../../testing/feed-rows.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

function feed(...lines: string[]): string {
  const path = bed.at('feed.ndjson')
  writeFileSync(path, lines.join('\n'))
  return path
}

const ingest = (path: string, ...options: string[]) => bed.ingest(path, 'store', ...options)
const info = () => bed.info('store')

describe('ingest of a feed', () => {
  it('skips what the store has, resumes with what follows, and stops at --to', async () => {
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 50)), '--to', '29')).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('30 versions'),
    })
    expect(await info()).toMatchObject({ chain_id: 4, ledger_version: '29', block_height: '2', keys: 21 })
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 50)))).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('20 versions'),
    })
    expect(ingest(feed(FEED_HEADER, ...feedRows(45, 60)))).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('10 versions'),
    })
    expect(await info()).toMatchObject({ ledger_version: '59', oldest_ledger_version: '0', block_height: '5' })
  })

  it.runIf(isSlowRun)(
    'refuses a gap, another chain, a start above 0 and a cut line, naming the line; what precedes stays',
    async () => {
      const refused = (path: string) => {
        const { status, stderr } = ingest(path)
        expect(status).toBe(1)
        return stderr
      }
      expect(refused(feed(FEED_HEADER, ...feedRows(10, 20)))).toContain('line 2: version 10, but the store is empty')
      expect(refused(feed(FEED_HEADER, ...feedRows(0, 7), feedRow(7).slice(0, 40)))).toContain('line 9:')
      expect((await info()).ledger_version).toBe('6')
      expect(refused(feed(FEED_HEADER, ...feedRows(9, 12)))).toMatch(
        /line 2: version 9 is found, but the next version of the store is 7/,
      )
      expect(refused(feed(FEED_HEADER, ...feedRows(0, 9), feedRow(10)))).toContain(
        'line 11: version 10 follows version 8',
      )
      expect(refused(feed(FEED_HEADER.replace('4}', '5}'), ...feedRows(9, 12)))).toContain(
        'line 1: the source is of chain 5, the store holds chain 4',
      )
      const path = bed.at('cut.ndjson.gz')
      const whole = gzipSync([FEED_HEADER, ...feedRows(0, 2_000)].join('\n'))
      writeFileSync(path, whole.subarray(0, whole.length - 2_000))
      expect(refused(path)).toMatch(/line \d+: the rest of the file cannot be read/)
      expect(Number((await info()).ledger_version)).toBeGreaterThan(100)
    },
  )

  it('is refused while another process writes', async () => {
    const engine = openStateEngine({ path: bed.at('store') })
    const { status, stderr } = ingest(feed(FEED_HEADER, ...feedRows(0, 10)))
    expect([status, stderr]).toEqual([1, expect.stringContaining('another writer has this store open')])
    await engine.close()
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 10))).status).toBe(0)
  })

  it('that fails before anything is stored leaves neither a store nor a folder', () => {
    const damaged = feed(FEED_HEADER, 'no version')
    expect(ingest(damaged).status).toBe(1)
    expect(existsSync(bed.at('store'))).toBe(false)
    mkdirSync(bed.at('store'))
    writeFileSync(bed.at('store/notes.txt'), 'mine')
    expect(ingest(damaged).status).toBe(1)
    expect(readdirSync(bed.at('store'))).toEqual(['notes.txt'])
    // What is stored stays, and the next ingest continues it.
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 20), 'no version')).status).toBe(1)
    expect(ingest(feed(FEED_HEADER, ...feedRows(0, 30)))).toMatchObject({ status: 0 })
  })
})
