import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesToHexDigits, type KeyedEntry } from '@ledger-state/core'
import { createRandom, testSeed } from '@ledger-state/testing/random'
import { afterAll, describe, expect, it } from 'vitest'
import { keysOfList, openKeysFile } from './keys-file.js'
import { openLeavesFile } from './leaves-file.js'
import { openRootRanges } from './root-ranges.js'
import { computeStateRoot } from './state-root.js'
import type { RangeWrite } from './write-batch.js'

const folder = mkdtempSync(join(tmpdir(), 'root-range-'))
afterAll(() => rmSync(folder, { recursive: true }))

const SALT = 'APTOS::'
const BLOCKS = 24
const BLOCK_VERSIONS = 3

type Entry = Omit<KeyedEntry, 'version'>

/** Writes of a random history, by version. */
function randomHistory(keys: number) {
  const random = createRandom(testSeed())
  return Array.from({ length: BLOCKS * BLOCK_VERSIONS }, (_, version) => {
    const writes = Array.from({ length: random.below(14) }, (): RangeWrite => {
      const isDeletion = random.below(5) === 0
      return {
        version,
        key: Uint8Array.of(1, random.below(keys), 7),
        isNewKey: true,
        value: isDeletion ? null : random.bytes(random.below(5) === 0 ? 3_000 : random.below(200)),
        annotation: random.below(3) === 0 && !isDeletion ? Uint8Array.of(4, 1 + random.below(200)) : undefined,
      }
    })
    return [...new Map(writes.map((write) => [bytesToHexDigits(write.key), write])).values()]
  })
}

async function rootOf(state: ReadonlyMap<string, Entry>): Promise<string> {
  const entries = [...state.values()].map((entry) => ({ ...entry, version: 0n }))
  const { root } = await computeStateRoot([entries], { spillFolder: folder, threads: 0 })
  return bytesToHexDigits(root)
}

/** The writes of versions in the order of a store: by key, with the key of each write only if it is another one. */
function inOrderOfKeys(versions: readonly RangeWrite[][], first: number): RangeWrite[] {
  const writes = versions.flat().sort((a, b) => Buffer.compare(a.key, b.key) || a.version - b.version)
  return writes.map((write, at) => ({
    ...write,
    version: write.version - first,
    isNewKey: at === 0 || Buffer.compare(write.key, writes[at - 1]!.key) !== 0,
  }))
}

/** All keys of a file, in hex. */
function namesIn(path: string): string[] {
  const keys = openKeysFile(path)!
  const names = Array.from({ length: 2 ** 5 }, (_, part) => {
    const { lists, lengths } = keys.read(part, 5)
    let at = 0
    return Array.from(lengths, (length) => {
      at += length
      return keysOfList(lists.subarray(at - length, at))
    }).flat()
  })
  keys.close()
  return names.flat().map(bytesToHexDigits).sort()
}

describe('RootRange', () => {
  it.each([
    { threads: 0, memoryBytes: 2 ** 20, keys: 60 },
    { threads: 0, memoryBytes: 500, keys: 2 },
    { threads: 2, memoryBytes: 5_000, keys: 250 },
  ])('computes the root after each block, in successive ranges: %o', async ({ keys, ...options }) => {
    const history = randomHistory(keys)
    const ranges = openRootRanges({ ...options, hashSalt: SALT, folder })
    const state = new Map<string, Entry>()
    let before = { path: '', digest: '', root: await rootOf(state), keys: '' }
    const named = new Set<string>()
    let first = 0
    try {
      for (const blocks of [1, 8, BLOCKS - 9]) {
        const end = first + blocks * BLOCK_VERSIONS
        const base = openLeavesFile(before.path)
        const range = ranges.begin(base, 100, 5)
        const keysBefore = openKeysFile(before.keys)
        for (const write of inOrderOfKeys(history.slice(first, end), first)) await range.add(write)
        const expected: string[] = []
        for (let version = first; version < end; version++) {
          for (const { key, value, annotation } of history[version]!) {
            named.add(bytesToHexDigits(key))
            if (value) state.set(bytesToHexDigits(key), annotation ? { key, value, annotation } : { key, value })
            else state.delete(bytesToHexDigits(key))
          }
          if (version % BLOCK_VERSIONS === BLOCK_VERSIONS - 1) expected.push(await rootOf(state))
        }
        const ends = Uint32Array.from({ length: blocks }, (_, block) => (block + 1) * BLOCK_VERSIONS - 1)
        const path = join(folder, `leaves-${end}-${options.threads}-${keys}`)
        const found: string[] = []
        const roots = await range.finish(ends, BigInt(end - 1), {
          path,
          keys: { before: keysBefore, path: `${path}-keys` },
          onRoot: (block, root) => expect(block).toBe(found.push(bytesToHexDigits(root)) - 1),
        })
        expect(found).toEqual(expected)
        expect(bytesToHexDigits(roots.before)).toBe(before.root)
        expect(bytesToHexDigits(roots.after)).toBe(expected.at(-1))
        expect(roots.keys).toBe(state.size)
        if (base) expect(base.digest()).toBe(before.digest)
        base?.close()
        keysBefore?.close()
        await range.close()
        expect(namesIn(`${path}-keys`)).toEqual([...named].sort())
        before = { keys: `${path}-keys`, path, digest: roots.digest, root: expected.at(-1)! }
        first = end
      }
    } finally {
      await ranges.close()
    }
  })
})
