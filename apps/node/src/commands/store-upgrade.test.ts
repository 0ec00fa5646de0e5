// store upgrade, on stores of the layout before this one.
import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openStateEngineReader } from '@ledger-state/state-engine'
import { writeLayout3Store } from '@ledger-state/state-engine/testing/layout-3-store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { FEED_HEADER, feedRows } from '../../testing/feed-rows.ts'
import { testRandom } from '../../testing/test-random.ts'

const LONG = { timeout: 120_000 }
const KILLS = 5

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

/** Ingests a ledger into the store `same`, and writes it as a store of layout 3, `old`. */
async function oldStore(versions: number): Promise<void> {
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

const upgrade = ['store', 'upgrade', '--data-dir', 'old', '--to', 'new']

describe('store upgrade', () => {
  it('copies a store of layout 3, and says what the copy holds', async () => {
    await oldStore(1_000)
    const { status, stdout, stderr } = bed.run(...upgrade)
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^new holds versions 0 to 999, as old; it took .* s\n$/),
    ])
    expect(stderr).toContain('comparing the copy with the store')
    expect(await bed.digest('new')).toBe(await bed.digest('same'))
    const again = bed.run(...upgrade)
    expect([again.status, again.stderr]).toEqual([1, 'ledger-state: new holds a store already\n'])
    // What comes next goes on from there.
    writeFileSync(bed.at('feed.ndjson'), [FEED_HEADER, ...feedRows(0, 1_100)].join('\n'))
    expect(bed.ingest(bed.at('feed.ndjson'), 'new').status).toBe(0)
    expect(await bed.info('new')).toMatchObject({ ledger_version: '1099', oldest_ledger_version: '0' })
  })

  it('that SIGINT stops ends with status 130, and the same command resumes', LONG, async () => {
    await oldStore(20_000)
    const program = bed.start(...upgrade)
    await bed.exists('new/upgrading/state.mdb')
    expect(await program.stop('SIGINT')).toBe(130)
    expect(program.output).toContain(
      'ledger-state: stopped by SIGINT: new is not a store yet; run the same command again to resume\n',
    )
    expect(existsSync(bed.at('new/state.mdb'))).toBe(false)
    expect(bed.run(...upgrade).status).toBe(0)
    expect(await bed.digest('new')).toBe(await bed.digest('same'))
  })

  it('that is killed resumes', LONG, async () => {
    await oldStore(20_000)
    const random = testRandom()
    for (let kill = 0; kill < KILLS; kill++) {
      const { child, ended } = bed.start(...upgrade)
      await sleep(200 + random.below(1_000))
      child.kill('SIGKILL')
      await ended
    }
    if (!existsSync(bed.at('new/state.mdb'))) expect(bed.run(...upgrade).status).toBe(0)
    expect(await bed.digest('new')).toBe(await bed.digest('same'))
  })

  it('refuses a store that is written, one that is of this layout, and a folder without one', async () => {
    await oldStore(10)
    const refused = (...words: string[]) => {
      const { status, stderr } = bed.run('store', 'upgrade', ...words)
      expect(status).toBe(1)
      return stderr
    }
    expect(refused('--data-dir', 'same', '--to', 'new')).toContain('only stores of layout 3 are upgraded')
    expect(refused('--data-dir', 'absent', '--to', 'new')).toContain('there is no ledger store in absent')
    expect(refused('--data-dir', 'old', '--to', 'same')).toContain('same holds a store already')
    expect(existsSync(bed.at('new'))).toBe(false)
  })
})

describe('every program that meets a store of layout 3', () => {
  it('says how to upgrade it', async () => {
    await oldStore(10)
    for (const words of [
      ['info'],
      ['check'],
      ['prune', '--retain', '5'],
      ['snapshot', 'copy'],
      ['export', 'file.ndjson'],
      ['ingest', 'feed.ndjson'],
      ['get', 'account', '0x1'],
      ['serve', '--listen', '127.0.0.1:0'],
      ['serve', '--create', '--listen', '127.0.0.1:0'],
      ['start', '--listen', '127.0.0.1:0'],
    ]) {
      const { status, stderr } = bed.run(...words, '--data-dir', 'old')
      expect([words, status]).toEqual([words, 1])
      expect(stderr).toMatch(/copy it into this layout with ‘ledger-state store upgrade --data-dir old --to NEW’\n$/)
    }
  })
})
