// Export of feeds.
import { existsSync } from 'node:fs'
import { SyntheticChain, writeBackup } from '@ledger-state/feed/testing/synthetic-chain'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'

const chain = new SyntheticChain({ blocks: 60 })

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(() => bed.close())

describe('the command `export`', () => {
  it('refuses unknown formats, versions in the wrong order, and versions that do not exist', () => {
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'store')
    for (const [options, status, message] of [
      [['--format', 'csv'], 2, /"csv" is not one of feed, parquet/],
      [['--from', '50', '--to', '40'], 2, /--from 50 is above --to 40/],
      [['--to', '9999'], 1, /Ledger version not found/],
    ] as const) {
      expect(bed.run('export', bed.at('x'), '--data-dir', bed.at('store'), ...options)).toMatchObject({
        status,
        stderr: expect.stringMatching(message),
      })
      expect([existsSync(bed.at('x')), existsSync(bed.at('x.unfinished'))]).toEqual([false, false])
    }
  })

  it('writes feeds that ingest reads, compressed as their file names say', async () => {
    writeBackup(chain, bed.at('backup'))
    bed.ingest(bed.at('backup'), 'whole', '--retain', '100')
    const whole = await bed.digest('whole')
    for (const name of ['feed.ndjson', 'feed.ndjson.gz', 'feed.ndjson.zst']) {
      const { status, stderr } = bed.run('export', bed.at(name), '--data-dir', bed.at('whole'), '--format', 'feed')
      expect([status, stderr]).toEqual([
        0,
        expect.stringMatching(/holds the state at version \d+ \(\d+ entries\) and the \d+ versions after it/),
      ])
      expect(existsSync(bed.at(`${name}.unfinished`))).toBe(false)
      expect(bed.ingest(bed.at(name), `copy of ${name}`).status).toBe(0)
      expect(await bed.digest(`copy of ${name}`)).toBe(whole)
    }
    expect(bed.run('ingest', bed.at('feed.ndjson.gz'), '--dry-run').stderr).toMatch(/^read without proofs: a state of/)
  })
})
