import type { KeyedEntry } from '@ledger-state/core'
import { describe, expect, it } from 'vitest'
import { importState } from './import-state.js'
import { createMemoryEngine } from './memory-engine.js'
import type { StateWriter } from './ports/engine-ports.js'

const BASE = { version: 9n, chainId: 1, block: { height: 3n, epoch: 0n, timestampUsec: 0n } }

function entriesOf(count: number): KeyedEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    key: Uint8Array.of(at >> 8, at),
    version: 5n,
    value: Uint8Array.of(at),
  }))
}

/** Lengths of the parts in which entries are added to an engine. */
async function partsOf(engine: StateWriter, entries: Iterable<KeyedEntry>): Promise<number[]> {
  const parts: number[] = []
  const recorder: Pick<StateWriter, 'beginImport'> = {
    async beginImport(version, options) {
      const state = await engine.beginImport(version, options)
      return {
        version,
        entryCount: state.entryCount,
        mark: state.mark,
        add: (part, mark) => {
          parts.push(part.length)
          return state.add(part, mark)
        },
        finish: (base) => state.finish(base),
      }
    },
  }
  await importState(recorder, BASE, entries)
  return parts
}

describe('importState', () => {
  it('adds entries in parts of 5,000, and an empty state as one', async () => {
    for (const [count, parts] of [
      [12_000, [5_000, 5_000, 2_000]],
      [5_000, [5_000, 0]],
      [1, [1]],
      [0, [0]],
    ] as const) {
      await using engine = createMemoryEngine()
      expect(await partsOf(engine, entriesOf(count))).toEqual(parts)
      expect([...engine.at().scan(new Uint8Array(0))]).toHaveLength(count)
    }
  })

  it('looks at no entry where the base is refused', async () => {
    await using engine = createMemoryEngine()
    const untouched = {
      [Symbol.iterator](): Iterator<KeyedEntry> {
        throw new Error('the entries are looked at')
      },
    }
    for (const base of [{ ...BASE, chainId: -1 }, { ...BASE, version: -1n }, { ...BASE, block: undefined }, null]) {
      await expect(importState(engine, base as never, untouched)).rejects.toMatchObject({ code: 'invalid_argument' })
    }
  })

  it.each([
    [{}, 'the entries is a value of type Object, expected an iterable'],
    [null, 'the entries is null, expected an object'],
    [7, 'the entries is the number 7, expected an object'],
  ])('refuses the entries %o', async (entries, message) => {
    await using engine = createMemoryEngine()
    const refused = importState(engine, BASE, entries as never)
    await expect(refused).rejects.toMatchObject({ code: 'invalid_argument', message })
  })
})
