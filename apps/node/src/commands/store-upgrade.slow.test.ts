// store upgrade, cut short: by a signal, and killed at any moment; and who asks for it.
import './store-upgrade.test.js'
import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { CommandBed } from '../../testing/command-bed.ts'
import { makeLayout3Store, UPGRADE } from '../../testing/layout-3-store.ts'
import { testRandom } from '../../testing/test-random.ts'

const KILLS = 5

let bed: CommandBed
beforeEach(() => {
  bed = new CommandBed()
})
afterEach(async () => {
  await bed.close()
})

describe('store upgrade', () => {
  it('that SIGINT stops ends with status 130, and the same command resumes', async () => {
    await makeLayout3Store(bed, 20_000)
    const program = bed.start(...UPGRADE)
    await bed.exists('new/upgrading/state.mdb')
    expect(await program.stop('SIGINT')).toBe(130)
    expect(program.output).toContain(
      'ledger-state: stopped by SIGINT: new is not a store yet; run the same command again to resume\n',
    )
    expect(existsSync(bed.at('new/state.mdb'))).toBe(false)
    expect(bed.run(...UPGRADE).status).toBe(0)
    expect(await bed.digest('new')).toBe(await bed.digest('same'))
  })

  it('that is killed resumes', async () => {
    await makeLayout3Store(bed, 20_000)
    const random = testRandom()
    for (let kill = 0; kill < KILLS; kill++) {
      const { child, ended } = bed.start(...UPGRADE)
      await sleep(200 + random.below(1_000))
      child.kill('SIGKILL')
      await ended
    }
    if (!existsSync(bed.at('new/state.mdb'))) expect(bed.run(...UPGRADE).status).toBe(0)
    expect(await bed.digest('new')).toBe(await bed.digest('same'))
  })
})

describe('every program that meets a store of layout 3', () => {
  it('says how to upgrade it', async () => {
    await makeLayout3Store(bed, 10)
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
