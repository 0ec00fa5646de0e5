import { spawnSync } from 'node:child_process'
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { DataPages } from './data-pages.js'
import { STORE_FILE } from './lmdb-store.js'

/** Number of versions. Two of each four are taken back, each by a process. */
const VERSIONS = isSlowRun ? 40 : 24
const folder = temporaryFolder()

/** Acts like a process that opens the file at the moment of the newest commit. */
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

it('an import continues if the opening of another process takes its parts back', async () => {
  const engine = openStateEngine({ path: folder.path, durability: 'none' })
  const state = await engine.beginImport(7n)
  takeNewestCommitBack()
  for (let part = 0; part < 6; part++) {
    await state.add([{ key: bytes(`k${part}`), value: bytes(`v${part}`), version: 7n }], bytes(`mark ${part}`))
    takeNewestCommitBack()
    expect(Buffer.from((await engine.unfinishedImport())!.mark!).toString()).toBe(`mark ${part}`)
    takeNewestCommitBack()
  }
  await expect(state.add([{ key: bytes('k5'), value: bytes('again'), version: 7n }])).rejects.toMatchObject({
    code: 'duplicate_key',
  })
  takeNewestCommitBack()
  await state.finish({ ...CHAIN, block: { height: 0n, epoch: 0n, timestampUsec: 0n } })
  for (let part = 0; part < 6; part++)
    expect(Buffer.from(engine.at().get(bytes(`k${part}`))!).toString()).toBe(`v${part}`)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
})

describe.each([
  ['write-ahead file', 1],
  ['segment file', 8],
])('a reader that sees the state before the newest transaction, which removed a %s', (_, merges) => {
  const path = () => folder.path
  const expectNewest = (value: Uint8Array | undefined) =>
    expect(Buffer.from(value!).toString()).toBe(`value ${merges - 1}`)

  /** Opens a writer and a reader. The last transaction of the writer removed a file and is taken back. */
  async function openTakenBack() {
    const writer = openStateEngine({ path: path(), durability: 'none' })
    for (let version = 0; version < merges; version++) {
      const writes = [[bytes('k'), bytes(`value ${version}`)]] as const
      await writer.commit([record(version, [...writes], version)], CHAIN)
      await writer.merge()
    }
    const reader = openStateEngineReader({ path: path() })
    takeNewestCommitBack()
    return { writer, reader }
  }

  it('reads the newest state, again and again', async () => {
    const { writer, reader } = await openTakenBack()
    expectNewest(reader.at().get(bytes('k')))
    expectNewest(reader.at().get(bytes('k')))
    takeNewestCommitBack()
    expect((await reader.check()).problems).toEqual([])
    takeNewestCommitBack()
    await reader.snapshot(join(path(), 'copy'))
    const copy = openStateEngineReader({ path: join(path(), 'copy') })
    expectNewest(copy.at().get(bytes('k')))
    await copy.close()
    await writer.commit([record(merges, [], merges)], CHAIN)
    expectNewest(writer.at().get(bytes('k')))
    expect((await writer.check()).problems).toEqual([])
    await reader.close()
    await writer.close()
  })

  it('has a writer that reads the newest state and continues it', async () => {
    const { writer, reader } = await openTakenBack()
    // After some turns of the event loop and so many reads, the writer takes a new snapshot.
    for (let turns = 0; turns < 10; turns++) {
      await nextTurn()
      for (let reads = 0; reads < 5_000; reads++) writer.at()
    }
    expect(writer.ledger?.latestVersion).toBe(BigInt(merges - 1))
    expectNewest(writer.at().get(bytes('k')))
    await writer.commit([record(merges, [[bytes('other'), bytes('1')]], merges)], CHAIN)
    await writer.merge()
    for (const engine of [writer, reader]) expectNewest(engine.at().get(bytes('k')))
    expect((await writer.check()).problems).toEqual([])
    await reader.close()
    await writer.close()
  })

  it('says that the next commit ends this state if it cannot end it itself', async () => {
    const { writer, reader } = await openTakenBack()
    const lock = join(path(), `${STORE_FILE}-lock`)
    renameSync(lock, `${lock}.away`)
    for (let again = 0; again < 2; again++) {
      expect(() => reader.at()).toThrow(
        expect.objectContaining({
          code: 'store_failed',
          message: `LMDB shows an older state than the newest until the writer's next transaction, and this process cannot write to ${lock} to correct that: try again after the next commit`,
        }),
      )
    }
    renameSync(`${lock}.away`, lock)
    expectNewest(reader.at().get(bytes('k')))
    await reader.close()
    await writer.close()
  })
})

it('a file that the newest state names and that is missing is damage for a reader', async () => {
  const writer = openStateEngine({ path: folder.path, durability: 'none' })
  await writer.commit([record(0, [[bytes('k'), bytes('v')]], 0)], CHAIN)
  await writer.merge()
  await writer.close()
  const reader = openStateEngineReader({ path: folder.path })
  const file = readdirSync(folder.path).find((name) => name.startsWith('segment-'))!
  rmSync(join(folder.path, file))
  for (let again = 0; again < 2; again++) {
    expect(() => reader.at()).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
  }
  await reader.close()
})
