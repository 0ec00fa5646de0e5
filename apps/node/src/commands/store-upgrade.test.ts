// store upgrade, on stores of the layout before this one; cut short: store-upgrade.slow.test.ts.
import { existsSync, writeFileSync } from 'node:fs'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { FEED_HEADER, feedRows } from '../../testing/feed-rows.ts'
import { makeLayout3Store, UPGRADE } from '../../testing/layout-3-store.ts'

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

describe('store upgrade', () => {
  it('copies a store of layout 3, and says what the copy holds', async () => {
    await makeLayout3Store(bed, 1_000)
    const { status, stdout, stderr } = bed.run(...UPGRADE)
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^new holds versions 0 to 999, as old; it took .* s\n$/),
    ])
    expect(stderr).toContain('comparing the copy with the store')
    expect(await bed.digest('new')).toBe(await bed.digest('same'))
    const again = bed.run(...UPGRADE)
    expect([again.status, again.stderr]).toEqual([1, 'ledger-state: new holds a store already\n'])
    // What comes next goes on from there.
    writeFileSync(bed.at('feed.ndjson'), [FEED_HEADER, ...feedRows(0, 1_100)].join('\n'))
    expect(bed.ingest(bed.at('feed.ndjson'), 'new').status).toBe(0)
    expect(await bed.info('new')).toMatchObject({ ledger_version: '1099', oldest_ledger_version: '0' })
  })

  it.runIf(isSlowRun)(
    'refuses a store of this layout, a folder without one, and one to copy into that has one',
    async () => {
      await makeLayout3Store(bed, 10)
      const refused = (...words: string[]) => {
        const { status, stderr } = bed.run('store', 'upgrade', ...words)
        expect(status).toBe(1)
        return stderr
      }
      expect(refused('--data-dir', 'same', '--to', 'new')).toContain('only stores of layout 3 are upgraded')
      expect(refused('--data-dir', 'absent', '--to', 'new')).toContain('there is no ledger store in absent')
      expect(refused('--data-dir', 'old', '--to', 'same')).toContain('same holds a store already')
      expect(existsSync(bed.at('new'))).toBe(false)
    },
  )
})
