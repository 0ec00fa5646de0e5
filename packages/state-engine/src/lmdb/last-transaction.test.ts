import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'
import { DataPages } from './data-pages.js'
import { STORE_FILE } from './lmdb-store.js'

/** Number of versions. Two of each four are taken back, each by a process. */
const VERSIONS = isSlowRun ? 40 : 24
const folder = temporaryFolder()

/** Does what a process does that opens the file at the moment of the newest commit. */
function takeNewestCommitBack(): void {
  const file = join(folder.path, STORE_FILE)
  const pages = new DataPages(file)
  const { transaction } = pages.readNewestMeta()
  pages.close()
  const write = `
    const file = require('node:fs').openSync(${JSON.stringify(`${file}-lock`)}, 'r+')
    const number = Buffer.alloc(8)
    number.writeBigUInt64LE(${transaction - 1n}n)
    require('node:fs').writeSync(file, number, 0, 8, 8)`
  expect(spawnSync(process.execPath, ['-e', write]).status).toBe(0)
}

it('the writer keeps a commit that the opening of another process took back', async () => {
  const open = () => openStateEngine({ path: folder.path, durability: 'none' })
  const version = (number: number) => record(number, [[bytes('k'), bytes(`v${number}`)]], number)
  const first = open()
  await first.commit([version(0)], CHAIN)
  // This commit is the first that may be undone: without the one before it, the store has no ledger.
  await first.close()
  const engine = open()
  for (let next = 1; next < VERSIONS; next++) {
    await engine.commit([version(next)], CHAIN)
    if (next % 4 === 1) takeNewestCommitBack()
    if (next % 4 === 3) {
      takeNewestCommitBack()
      await engine.prune(5n)
    }
  }
  expect(engine.ledger?.latestVersion).toBe(BigInt(VERSIONS - 1))
  expect(Buffer.from(engine.at().get(bytes('k'))!).toString()).toBe(`v${VERSIONS - 1}`)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})
