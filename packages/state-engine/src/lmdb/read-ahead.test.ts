import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStateEngine, openStateEngineReader } from '../open-state-engine.js'
import { STORE_FILE } from './lmdb-store.js'
import { isSmallBesideMemory } from './read-ahead.js'

const MAPS = '/proc/self/smaps'
if (!existsSync(MAPS)) console.warn('reading ahead is tested on Linux only: other systems do not show it')

let path: string
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), 'state-engine-'))
})
afterEach(() => {
  rmSync(path, { recursive: true, force: true })
})

/** Whether the system reads ahead: a map with the flag `rr` is read at random, without reading ahead. */
function isReadAhead(): boolean {
  const [, map] = readFileSync(MAPS, 'utf8').split(join(path, STORE_FILE))
  const [, flags] = /^VmFlags: (.*)$/m.exec(map!)!
  return !flags!.split(' ').includes('rr')
}

describe.skipIf(!existsSync(MAPS))('reading ahead', () => {
  it.each([
    ['off for a writer, whose store can grow beyond memory', openStateEngine, undefined, false],
    ['on for a writer that asks for it', openStateEngine, true, true],
    ['on for a reader of a small store', openStateEngineReader, undefined, true],
    ['off for a reader that does not want it', openStateEngineReader, false, false],
  ] as const)('is %s', async (_, open, readAhead, expected) => {
    await openStateEngine({ path }).close()
    const engine = open({ path, ...(readAhead !== undefined && { readAhead }) })
    expect(isReadAhead()).toBe(expected)
    await engine.close()
  })
})

describe('isSmallBesideMemory', () => {
  it('is true for a file that is missing or takes a small part of the memory', () => {
    const file = join(path, 'file')
    expect(isSmallBesideMemory(file)).toBe(true)
    writeFileSync(file, 'x')
    expect(isSmallBesideMemory(file)).toBe(true)
    truncateSync(file, totalmem())
    expect(isSmallBesideMemory(file)).toBe(false)
  })
})
