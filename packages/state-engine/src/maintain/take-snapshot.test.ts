import { join } from 'node:path'
import type { Write } from '@ledger-state/core'
import { expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine } from '../open-state-engine.js'

const folder = temporaryFolder()

it.each([false, true])('copies itself while it is written (compact: %s)', async (compact) => {
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  const commit = async (from: number) => {
    for (let version = from; version < from + 300; version++) {
      const writes: Write[] = [[bytes(`k${version % 7}`), bytes(`v${version}`.padEnd(3_000))]]
      await engine.commit([record(version, writes, version)], CHAIN)
    }
  }
  await commit(0)
  const copyPath = join(folder.path, 'copy')
  const copying = engine.snapshot(copyPath, { compact })
  await commit(300)
  await copying
  const copy = openStateEngine({ path: copyPath })
  const { latestVersion } = copy.ledger!
  expect(latestVersion).toBeGreaterThanOrEqual(299n)
  expect(latestVersion).toBeLessThanOrEqual(599n)
  expect((await copy.check()).problems).toEqual([])
  expect(
    Buffer.from(copy.at(299n).get(bytes('k5'))!)
      .toString()
      .trim(),
  ).toBe('v299')
  await copy.commit([record(latestVersion + 1n, [], Number(latestVersion) + 1)], CHAIN)
  await copy.close()
  await expect(engine.snapshot(copyPath)).rejects.toMatchObject({ code: 'store_not_empty' })
  await engine.close()
})
