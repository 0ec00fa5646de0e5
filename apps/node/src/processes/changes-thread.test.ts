import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStateEngine } from '@ledger-state/state-engine'
import { SOURCE_OPTIONS } from '@ledger-state/testing/source-process'
import { expect, it } from 'vitest'
import { createThreadChanges } from './changes-thread.js'

it('reads the writes of a store in another thread, again after its last cursor was closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'changes-'))
  const engine = openStateEngine({ path: folder })
  const versions = Array.from({ length: 20 }, (_, at) => ({
    version: BigInt(at),
    block: { height: BigInt(at), epoch: 0n, timestampUsec: BigInt(at) },
    writes: [[Uint8Array.of(1, at % 3), at % 4 === 3 ? null : Uint8Array.of(at)] as const],
  }))
  await engine.commit(versions, { chainId: 4 })
  const source = createThreadChanges(folder, SOURCE_OPTIONS)!
  for (let round = 0; round < 2; round++) {
    const [one, other] = [source.open(), source.open()]
    const found = await Promise.all([one.read(1n, 19n), other.read(5n, 7n)])
    const plain = found.map((page) => page.versions.map(({ version, writes }) => [version, writes.length]))
    const expected = [...engine.versions(1n, 19n)].map(({ version, writes }) => [version, writes.length])
    expect(plain).toEqual([expected, expected.slice(4, 7)])
    expect(await one.read(20n, 20n)).toEqual({ versions: [], branch: 0 })
    one.close()
    other.close()
  }
  await engine.close()
  rmSync(folder, { recursive: true })
})
