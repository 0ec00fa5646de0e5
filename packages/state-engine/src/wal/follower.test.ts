import {
  appendFileSync,
  closeSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { eventually } from '@ledger-state/testing/eventually'
import { describe, expect, it } from 'vitest'
import { bytes, CHAIN, record } from '../../testing/small-records.ts'
import { temporaryFolder } from '../../testing/temporary-folder.ts'
import { KeyHash } from '../memtable/key-hash.js'
import { openStateEngine, openStateEngineReader, type StateEngine } from '../open-state-engine.js'
import { NO_POSITION } from '../records/log-position.js'
import { decodeFileHeader } from './file-header.js'
import { WalReader } from './reader.js'

const folder = temporaryFolder()
const FILE = 'write-ahead-1'
const CORRUPT = expect.objectContaining({ code: 'store_corrupt' })

async function commit(engine: StateEngine, version: number, text = `value ${version}`): Promise<void> {
  await engine.commit([record(version, [[bytes('key'), bytes(text)]], version)], CHAIN)
}

describe('a reader of a WAL file', () => {
  it('waits at a record that is being written, at any byte of it', async () => {
    const engine = openStateEngine({ path: join(folder.path, 'store') })
    for (let version = 0; version < 3; version++) await commit(engine, version)
    const before = statSync(join(folder.path, 'store', FILE)).size
    await commit(engine, 3)
    const path = join(folder.path, 'copy')
    cpSync(join(folder.path, 'store'), path, { recursive: true })
    await engine.close()
    const whole = readFileSync(join(path, FILE))
    truncateSync(join(path, FILE), before)
    const reader = openStateEngineReader({ path })
    for (let at = before; at < whole.length; at++) {
      expect(reader.ledger?.latestVersion).toBe(2n)
      appendFileSync(join(path, FILE), whole.subarray(at, at + 1))
      // Stands for a next read that takes a separate snapshot.
      const other = openStateEngineReader({ path })
      expect(other.ledger?.latestVersion).toBe(at + 1 < whole.length ? 2n : 3n)
      await other.close()
    }
    await eventually(
      () => reader.ledger?.latestVersion === 3n,
      () => `version 3, not ${reader.ledger?.latestVersion}`,
    )
    await reader.close()
  })

  it('meets no unreadable bytes in commits that come after it has read', async () => {
    const path = join(folder.path, 'store')
    const engine = openStateEngine({ path })
    for (const version of [0, 1]) await commit(engine, version)
    const header = decodeFileHeader(readFileSync(join(path, FILE)))!
    const logEnd = { fileNumber: 0, ...NO_POSITION }
    const options = { folder: path, blockBefore: undefined, logEnd, ...header, before: undefined }
    const file = new WalReader(options, new KeyHash())
    file.read()
    await commit(engine, 2)
    expect(file.unreadableBytes).toBe(0)
    file.close()
    await engine.close()
  })

  it('answers again as soon as the system reads the files again', async () => {
    const path = join(folder.path, 'store')
    const engine = openStateEngine({ path })
    for (let version = 0; version < 3; version++) await commit(engine, version)
    const reader = openStateEngineReader({ path })
    // The system opens a folder as the next file, and does not read it.
    mkdirSync(join(path, 'write-ahead-2'))
    for (let count = 0; count < 2; count++) {
      expect(() => reader.ledger).toThrow(expect.objectContaining({ code: 'store_failed' }))
    }
    rmdirSync(join(path, 'write-ahead-2'))
    expect(reader.ledger?.latestVersion).toBe(2n)
    await commit(engine, 3)
    await eventually(
      () => reader.ledger?.latestVersion === 3n,
      () => `version 3, not ${reader.ledger?.latestVersion}`,
    )
    await reader.close()
    await engine.close()
  })

  it('refuses damage while the writer has not noticed it, until the file is merged', async () => {
    const path = join(folder.path, 'store')
    const engine = openStateEngine({ path, memtableBytes: 20_000 })
    for (let version = 0; version < 4; version++) await commit(engine, version)
    const earlier = openStateEngineReader({ path })
    expect(earlier.ledger?.latestVersion).toBe(3n)
    const file = openSync(join(path, FILE), 'r+')
    const at = statSync(join(path, FILE)).size - 150
    writeSync(file, Buffer.of(readFileSync(join(path, FILE))[at]! ^ 1), 0, 1, at)
    closeSync(file)
    const later = openStateEngineReader({ path })
    for (let count = 0; count < 3; count++) expect(() => later.ledger).toThrow(CORRUPT)
    expect(() => later.at(0n).get(bytes('key'))).toThrow(CORRUPT)
    expect((await later.check()).problems).not.toEqual([])
    await expect(later.snapshot(join(folder.path, 'copy'))).rejects.toEqual(CORRUPT)
    // The writer has the content of the file, as have readers that had read the file earlier.
    expect(earlier.ledger?.latestVersion).toBe(3n)
    let version = 4
    for (; isFirstFileThere(path); version++) await commit(engine, version, `value ${version}`.padEnd(1_000))
    await commit(engine, version)
    for (const reader of [earlier, later]) {
      await eventually(
        () => reader.ledger?.latestVersion === BigInt(version),
        () => `version ${version}`,
      )
      expect(Buffer.from(reader.at(2n).get(bytes('key'))!).toString()).toBe('value 2')
      await reader.close()
    }
    expect((await engine.check()).problems).toEqual([])
    await engine.close()
  })
})

function isFirstFileThere(path: string): boolean {
  return statSync(join(path, FILE), { throwIfNoEntry: false }) !== undefined
}
