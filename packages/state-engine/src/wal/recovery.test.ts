import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSlowRun } from '@ledger-state/testing/slow-run'
import { testScale } from '@ledger-state/testing/test-scale'
import { describe, expect, it } from 'vitest'
import { moveToAnotherBoot } from '../../testing/another-boot.ts'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { openStateEngine, openStateEngineReader, openWithFailpoints, type WriterOptions } from '../open-state-engine.js'
import { FILE_HEADER_LENGTH } from './file-header.js'
import { RECORD_HEADER_LENGTH } from './record.js'

const folder = temporaryFolder()
const KEY = bytes('key')
/** Distance between the bytes that are damaged, each in a new store. The slow run leaves out none. */
const STRIDE = isSlowRun ? Math.max(1, Math.round(1 / testScale())) : 11
let copies = 0

/**
 * Makes a store with versions 0 to `latest`. All but the first are in a WAL file. Returns the end of each. The store
 * was closed, or is like one after a killed process.
 */
async function makeStore(
  latest: number,
  { killed = false, ...options }: Partial<WriterOptions & { killed: boolean }> = {},
) {
  const path = join(folder.path, 'store')
  const engine = openStateEngine({ path, ...options })
  const ends: number[] = []
  for (let version = 0; version <= latest; version++) {
    await engine.commit([record(version, [[KEY, bytes(`value ${version}`)]], version)], CHAIN)
    ends.push(statSync(join(path, 'write-ahead-1')).size)
  }
  const left = killed ? copy(path, () => {}) : path
  await engine.close()
  return { path: left, ends }
}

function copy(path: string, damage: (path: string) => void): string {
  const copied = join(folder.path, `copy ${++copies}`)
  cpSync(path, copied, { recursive: true })
  damage(copied)
  return copied
}

const flip = (file: string, at: number, bit: number) => (path: string) => {
  const content = readFileSync(join(path, file))
  content[at]! ^= 1 << bit
  writeFileSync(join(path, file), content)
}

/** Opens the store as a reader and as the writer, and continues with it. */
async function expectLatest(path: string, latest: number): Promise<void> {
  const reader = openStateEngineReader({ path })
  expect(Number(reader.ledger!.latestVersion)).toBe(latest)
  const engine = openStateEngine({ path })
  expect(Number(engine.ledger!.latestVersion)).toBe(latest)
  for (let version = 0; version <= latest; version++) {
    for (const opened of [reader, engine]) {
      expect(Buffer.from(opened.at(BigInt(version)).get(KEY)!).toString()).toBe(`value ${version}`)
    }
  }
  await reader.close()
  const next = latest + 1
  await engine.commit([record(next, [[KEY, bytes(`value ${next}`)]], next)], CHAIN)
  expect((await engine.check()).problems).toEqual([])
  await engine.close()
  const again = openStateEngine({ path })
  expect(Buffer.from(again.at(BigInt(next)).get(KEY)!).toString()).toBe(`value ${next}`)
  await again.close()
}

function expectRefused(path: string, message: RegExp): void {
  const before = snapshotOf(path)
  expect(() => openStateEngine({ path })).toThrow(
    expect.objectContaining({ code: 'store_corrupt', message: expect.stringMatching(message) }),
  )
  // Nothing is cut or removed, and the writer lock was released.
  expect(snapshotOf(path)).toEqual(before)
  expect(() => openStateEngine({ path })).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
}

function snapshotOf(path: string) {
  const names = readdirSync(path).filter((name) => name.startsWith('write-ahead'))
  return names.map((name) => [name, readFileSync(join(path, name)).toString('hex')])
}

describe('a WAL file whose end is torn', () => {
  it('has the commits before, cut at any byte of the last one', async () => {
    const { path, ends } = await makeStore(3, { killed: true })
    for (let size = ends[2]!; size <= ends[3]!; size += STRIDE) {
      const cut = copy(path, (path) => truncateSync(join(path, 'write-ahead-1'), size))
      await expectLatest(cut, size === ends[3] ? 3 : 2)
      rmSync(cut, { recursive: true })
    }
  })

  it('has the commits before, if any bit of the last is wrong', async () => {
    const { path, ends } = await makeStore(2, { killed: true })
    for (let at = ends[1]!; at < ends[2]!; at += STRIDE) {
      const damaged = copy(path, flip('write-ahead-1', at, at % 8))
      await expectLatest(damaged, 1)
      rmSync(damaged, { recursive: true })
    }
  })

  it('has the commits before the unsynced part, cut at any byte', async () => {
    const { path, ends } = await makeStore(3, { killed: true, durability: 'ordered' })
    for (let size = FILE_HEADER_LENGTH; size <= ends[3]!; size += 3 * STRIDE) {
      const cut = copy(path, (path) => truncateSync(join(path, 'write-ahead-1'), size))
      await expectLatest(
        cut,
        ends.findLastIndex((end) => end <= size),
      )
      rmSync(cut, { recursive: true })
    }
  })

  it('has the commits before if power was lost before it was synced, and a part in the middle is missing', async () => {
    const { path, ends } = await makeStore(4, { killed: true, durability: 'ordered' })
    moveToAnotherBoot(path)
    await expectLatest(copy(path, flip('write-ahead-1', ends[1]! + 5, 3)), 1)
  })

  it('may have anything after the last commit', async () => {
    const { path } = await makeStore(2)
    const longer = copy(path, (path) =>
      writeFileSync(join(path, 'write-ahead-1'), 'LSWRLSWR'.repeat(500), { flag: 'a' }),
    )
    await expectLatest(longer, 2)
  })
})

describe('a WAL file that is damaged', () => {
  it.each(['full', 'ordered', 'none'] as const)(
    'is refused, with its name and the place, if any bit is wrong, once it was closed (%s)',
    async (durability) => {
      const { path, ends } = await makeStore(4, { durability })
      moveToAnotherBoot(path)
      for (let at = FILE_HEADER_LENGTH; at < ends[4]!; at += STRIDE) {
        const damaged = copy(path, flip('write-ahead-1', at, at % 8))
        const place = ends.findLast((end) => end <= at)
        expectRefused(damaged, new RegExp(`write-ahead-1 at byte ${place}: .* missing or damaged`))
        rmSync(damaged, { recursive: true })
      }
    },
  )

  it.each(['full', 'ordered', 'none'] as const)(
    'is refused, and the error says how much is missing, cut at any byte, once it was closed (%s)',
    async (durability) => {
      const { path, ends } = await makeStore(4, { durability })
      moveToAnotherBoot(path)
      for (let size = FILE_HEADER_LENGTH; size < ends[4]!; size += STRIDE) {
        const cut = copy(path, (path) => truncateSync(join(path, 'write-ahead-1'), size))
        const missing = 4 - ends.findLastIndex((end) => end <= size)
        expectRefused(
          cut,
          missing === 1 ? /: commit 5 is missing or damaged/ : new RegExp(`: ${missing} commits are missing`),
        )
        rmSync(cut, { recursive: true })
      }
    },
  )

  it.each(['full', 'ordered', 'none'] as const)(
    'is refused if any bit before the last commit is wrong, after its writer was killed (%s)',
    async (durability) => {
      const { path, ends } = await makeStore(4, { durability, killed: true })
      for (let at = FILE_HEADER_LENGTH; at < ends[3]!; at += STRIDE) {
        const damaged = copy(path, flip('write-ahead-1', at, at % 8))
        expectRefused(damaged, new RegExp(`write-ahead-1 at byte ${ends.findLast((end) => end <= at)}: `))
        rmSync(damaged, { recursive: true })
      }
    },
  )

  it('is refused if it was cut before the last sync, after its writer was killed', async () => {
    const { path, ends } = await makeStore(4, { killed: true })
    moveToAnotherBoot(path)
    for (let size = 0; size < ends[3]!; size += size < FILE_HEADER_LENGTH ? 61 * STRIDE : STRIDE) {
      const cut = copy(path, (path) => truncateSync(join(path, 'write-ahead-1'), size))
      expectRefused(cut, size < FILE_HEADER_LENGTH ? /at byte 0: its header is damaged/ : / missing or damaged/)
      rmSync(cut, { recursive: true })
    }
  })

  it('is refused if it is an earlier copy of itself, and the next file is there', async () => {
    const path = join(folder.path, 'store')
    const stop = new Error('no merge')
    const engine = openWithFailpoints({ path }, (point) => {
      if (point.startsWith('merge: before')) throw stop
    })
    await engine.commit([record(0, [[KEY, bytes('value 0')]], 0)], CHAIN)
    await engine.commit([record(1, [[KEY, bytes('value 1')]], 1)], CHAIN)
    const earlier = readFileSync(join(path, 'write-ahead-1'))
    await engine.commit([record(2, [[KEY, bytes('value 2')]], 2)], CHAIN)
    await engine.close()
    // The next commit begins another file.
    const sealing = openWithFailpoints({ path, memtableBytes: 2_000 }, (point) => {
      if (point.startsWith('merge: before')) throw stop
    })
    await sealing.commit([record(3, [[KEY, bytes('value 3'.padEnd(700))]], 3)], CHAIN).catch(() => {})
    await sealing.close()
    expect(readdirSync(path)).toContain('write-ahead-2')
    expectRefused(
      copy(path, (path) => writeFileSync(join(path, 'write-ahead-1'), earlier)),
      /write-ahead-1 at byte \d+: .* missing or damaged.*: the file had more/,
    )
  })

  it('is refused if it is missing, or of another store', async () => {
    const { path } = await makeStore(2)
    expectRefused(
      copy(path, (path) => rmSync(join(path, 'write-ahead-1'))),
      /write-ahead-1 at byte 0: the file is missing/,
    )
    const other = join(folder.path, 'other')
    const engine = openStateEngine({ path: other })
    await engine.commit([record(0, [], 0)], CHAIN)
    await engine.close()
    const name = 'write-ahead-1'
    expectRefused(
      copy(path, (path) => cpSync(join(other, name), join(path, name))),
      /belongs to another store/,
    )
  })

  it('is refused if it is longer than any that was written', async () => {
    const { path } = await makeStore(2)
    expect(() => {
      const long = copy(path, (path) => truncateSync(join(path, 'write-ahead-1'), 2 ** 40))
      openStateEngine({ path: long })
    }).toThrow(expect.objectContaining({ code: 'store_corrupt', message: expect.stringMatching(/is too long/) }))
  })

  it('reports to a reader that it is missing', async () => {
    const { path } = await makeStore(2)
    rmSync(join(path, 'write-ahead-1'))
    const reader = openStateEngineReader({ path })
    expect(() => reader.ledger).toThrow(expect.objectContaining({ code: 'store_corrupt' }))
    await reader.close()
  })
})

describe('a rotation of WAL files', () => {
  /** Makes two files. The first is sealed and not merged. */
  async function makeFiles(latest: number, durability: 'full' | 'ordered' = 'full') {
    const path = join(folder.path, 'store')
    const stop = new Error('no merge')
    const engine = openWithFailpoints({ path, memtableBytes: 8_000, durability }, (point) => {
      if (point.startsWith('merge: before')) throw stop
    })
    let version = 0
    for (; readdirSync(path).filter((name) => name.startsWith('write-ahead')).length < 2; version++) {
      await engine.commit([record(version, [[KEY, bytes(`value ${version}`)]], version)], CHAIN)
    }
    for (; version <= latest; version++) {
      await engine.commit([record(version, [[KEY, bytes(`value ${version}`)]], version)], CHAIN)
    }
    await engine.close()
    return { path, latest: version - 1, sealed: statSync(join(path, 'write-ahead-1')).size }
  }
  const SEAL = RECORD_HEADER_LENGTH

  it.each(['full', 'ordered'] as const)('that is whole is recovered (%s)', async (durability) => {
    const { path, latest } = await makeFiles(0, durability)
    await expectLatest(
      copy(path, () => {}),
      latest,
    )
  })

  it('that ended before the file was sealed begins again', async () => {
    const { path, latest, sealed } = await makeFiles(0)
    for (const cut of [SEAL, SEAL - 1, 5]) {
      for (const header of [0, 1, FILE_HEADER_LENGTH - 1, FILE_HEADER_LENGTH]) {
        const interrupted = copy(path, (path) => {
          truncateSync(join(path, 'write-ahead-1'), sealed - cut)
          truncateSync(join(path, 'write-ahead-2'), header)
        })
        await expectLatest(interrupted, latest - 1)
        rmSync(interrupted, { recursive: true })
      }
    }
  })

  it('is refused if its next file is missing or damaged', async () => {
    const { path } = await makeFiles(0)
    expectRefused(
      copy(path, (path) => rmSync(join(path, 'write-ahead-2'))),
      /write-ahead-2 at byte 0: the file is missing/,
    )
    expectRefused(
      copy(path, (path) => truncateSync(join(path, 'write-ahead-2'), 20)),
      /write-ahead-2 at byte 0: its header/,
    )
  })

  it.each(['full', 'ordered'] as const)(
    'is refused if any bit of the sealed file is wrong (%s)',
    async (durability) => {
      const { path, sealed } = await makeFiles(0, durability)
      for (let at = FILE_HEADER_LENGTH; at < sealed; at += at > sealed - SEAL - 2 ? 1 : 37 * STRIDE) {
        const damaged = copy(path, flip('write-ahead-1', at, at % 8))
        expectRefused(damaged, /write-ahead-[12] at byte /)
        rmSync(damaged, { recursive: true })
      }
    },
  )

  it('leaves no file that is merged', async () => {
    const { path, latest } = await makeFiles(0)
    const files = () => readdirSync(path).filter((name) => name.startsWith('write-ahead'))
    const engine = openStateEngine({ path, memtableBytes: 0 })
    await engine.commit([record(latest + 1, [[KEY, bytes(`value ${latest + 1}`)]], latest + 1)], CHAIN)
    await engine.close()
    expect(files()).toHaveLength(1)
    // The store is like one after a process that was killed before it removed the file.
    cpSync(join(path, files()[0]!), join(path, 'write-ahead-1'))
    await expectLatest(path, latest + 1)
    expect(files()).toHaveLength(1)
  })
})
