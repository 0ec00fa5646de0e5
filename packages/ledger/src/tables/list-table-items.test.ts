import { bytesToHex, parseAddress, type Write } from '@ledger-state/core'
import { parseTypeTag, tableItemKey } from '@ledger-state/type-tag'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { engineOf } from '../../testing/engine-of.ts'
import { listTableItems } from '../index.js'
import { createLedger } from '../state/create-ledger.js'

const HANDLE = parseAddress('0x7ab1e')
const OTHER_HANDLE = parseAddress('0x7ab1f')

async function stateOf(writes: readonly Write[]) {
  return createLedger(await engineOf(writes)).at()
}

it('listTableItems lists the items of one table in the order of their keys, in pages of any size', async () => {
  const keys = fc.uniqueArray(fc.uint8Array({ maxLength: 4 }), { selector: bytesToHex, maxLength: 20 })
  await fc.assert(
    fc.asyncProperty(keys, fc.integer({ min: 1, max: 6 }), async (all, limit) => {
      const writes = all.flatMap((key): Write[] => [
        [tableItemKey(HANDLE, key), Uint8Array.of(key.length)],
        [tableItemKey(OTHER_HANDLE, key), Uint8Array.of(99)],
      ])
      const state = await stateOf(writes)
      const expected = all.toSorted(Buffer.compare).map((key) => [bytesToHex(key), key.length])
      const found: unknown[] = []
      let start: Uint8Array | undefined
      do {
        const page = listTableItems(state, HANDLE, {}, { start, limit })
        for (const { keyBytes, bytes } of page) found.push([bytesToHex(keyBytes), bytes[0]])
        start = page.cursor
      } while (start !== undefined)
      expect(found).toEqual(expected)
    }),
  )
})

it('listTableItems decodes keys and values whose types it is given', async () => {
  const state = await stateOf([[tableItemKey(HANDLE, Uint8Array.of(1, 0)), Uint8Array.of(7)]])
  const read = (types: { keyType?: string; valueType?: string }) => {
    const tags = Object.fromEntries(Object.entries(types).map(([name, text]) => [name, parseTypeTag(text)]))
    return Array.from(listTableItems(state, HANDLE, tags), ({ key, value }) => [key?.toJson(), value?.toJson()])
  }
  expect(read({})).toEqual([[undefined, undefined]])
  expect(read({ keyType: 'u16' })).toEqual([['1', undefined]])
  expect(read({ keyType: 'u16', valueType: 'u8' })).toEqual([['1', '7']])
  expect(() => read({ keyType: 'u64' })).toThrow(expect.objectContaining({ code: 'value_type_mismatch' }))
  expect([...listTableItems(state, OTHER_HANDLE)]).toEqual([])
})
