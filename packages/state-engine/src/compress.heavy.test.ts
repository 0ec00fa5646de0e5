import { Buffer } from 'node:buffer'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changeByte } from '../testing/page-damage.ts'
import { bytes, CHAIN, record } from '../testing/small-records.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import type { Compress } from './lmdb/compress.js'
import { openStateEngine, openStateEngineReader, type WriterOptions } from './open-state-engine.js'
import { ENVELOPE_LENGTH } from './segments/lmdb-envelope.js'
import { listSegments, segmentPath } from './segments/segment-names.js'

const folder = temporaryFolder()
/** Each version makes a file, and 64 files make one of level 2. */
const VERSIONS = 65
const KEYS = 40

function valueAt(version: number, at: number): Uint8Array {
  return Buffer.from(`${'the same text again and again, '.repeat(1 + ((at + version) % 12))}${version}`)
}

async function fill(path: string, first: number, last: number, compress?: Compress): Promise<number> {
  const engine = openStateEngine({ path, durability: 'none', memtableBytes: 0, compress })
  for (let version = first; version <= last; version++) {
    const writes = Array.from({ length: KEYS }, (_, at) => [bytes(`key ${at}`), valueAt(version, at)] as const)
    await engine.commit([record(version, [...writes], version)], CHAIN)
  }
  await engine.merge()
  await engine.close()
  return listSegments(path).reduce((sum, file) => sum + statSync(segmentPath(path, file)).size, 0)
}

async function expectAll(path: string, last: number): Promise<void> {
  const reader = openStateEngineReader({ path })
  for (let again = 0; again < 2; again++) {
    for (let version = 0; version <= last; version++) {
      for (let at = 0; at < KEYS; at++) {
        expect(Buffer.compare(reader.at(BigInt(version)).get(bytes(`key ${at}`))!, valueAt(version, at))).toBe(0)
      }
    }
  }
  expect((await reader.check()).problems).toEqual([])
  await reader.close()
}

it('compresses always, never, or by the size of the store, and every reader reads all of it', async () => {
  const paths = (['always', 'auto', 'never'] as const).map((compress) => join(folder.path, compress))
  const sizes = [
    await fill(paths[0]!, 0, VERSIONS, 'always'),
    await fill(paths[1]!, 0, VERSIONS),
    await fill(paths[2]!, 0, VERSIONS, 'never'),
  ]
  expect(sizes[0]).toBeLessThan(sizes[2]! / 3)
  expect(sizes[1]).toBe(sizes[2])
  for (const path of paths) await expectAll(path, VERSIONS)
  // The option may change.
  await fill(paths[0]!, VERSIONS + 1, 2 * VERSIONS, 'never')
  await fill(paths[2]!, VERSIONS + 1, 2 * VERSIONS, 'always')
  for (const path of [paths[0]!, paths[2]!]) await expectAll(path, 2 * VERSIONS)
})

it('damage of a compressed block is store_corrupt with the file and the place', async () => {
  await fill(folder.path, 0, VERSIONS, 'always')
  const sizeOf = (file: number) => statSync(segmentPath(folder.path, file)).size
  const [longest] = listSegments(folder.path).toSorted((a, b) => sizeOf(b) - sizeOf(a))
  changeByte(segmentPath(folder.path, longest!), ENVELOPE_LENGTH + 300, 0x40)
  const damaged = { code: 'store_corrupt', message: expect.stringMatching(/segment-\d+ at byte \d+: a block/) }
  for (let again = 0; again < 2; again++) {
    const reader = openStateEngineReader({ path: folder.path })
    const readAll = () => {
      for (let at = 0; at < KEYS; at++) reader.at(10n).get(bytes(`key ${at}`))
    }
    for (let twice = 0; twice < 2; twice++) expect(readAll).toThrow(expect.objectContaining(damaged))
    expect((await reader.check()).problems.join()).toMatch(/segment-\d+ at byte \d+: /)
    await reader.close()
  }
})

it('refuses other words', () => {
  for (const compress of ['zstd', '', true, null]) {
    const options = { path: folder.path, compress } as unknown as WriterOptions
    expect(() => openStateEngine(options)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  }
})
