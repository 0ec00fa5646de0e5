import { describe, expect, it } from 'vitest'
import { isSameJson, nearestVersion, shownJson, shownVersion } from './shown.ts'

const answer = {
  text: '',
  head: {
    chainId: '4',
    version: '44',
    oldestVersion: '0',
    timestampUsec: '0',
    height: '0',
    oldestHeight: '0',
    epoch: '0',
  },
  cursor: undefined,
  isComplete: true,
  readVersion: '40',
}
const absent = { failure: { kind: 'absent', message: '' } } as const
const busy = { failure: { kind: 'overloaded', message: '' } } as const

describe('the shown values of a view', () => {
  it('is the data of a resource, or the value itself, or that there is none', () => {
    const resource = { kind: 'resource', address: '0x1', type: '0x1::a::B' } as const
    const item = { kind: 'raw_table_item', handle: '0x1', key: new Uint8Array(1) } as const
    expect(shownJson(resource, { value: { type: '0x1::a::B', data: { a: '1' } }, answer })).toBe('{"a":"1"}')
    const module = { kind: 'module', address: '0x1', name: 'a' } as const
    expect(shownJson(module, { value: { bytecode: '0xa1', abi: {} }, answer })).toBe('"0xa1"')
    expect(shownJson(item, { value: null, answer })).toBe('null')
    expect(shownJson(item, absent)).toBe(null)
    expect(shownJson(item, busy)).toBe(undefined)
  })

  it('is of the version that the address or the answer says', () => {
    const found = { value: 1, answer }
    expect(shownVersion('7', absent)).toBe('7')
    expect(shownVersion(undefined, found)).toBe('44')
    expect(shownVersion('2024-01-01T00:00:00Z', found)).toBe('40')
    expect(shownVersion(undefined, absent)).toBe(undefined)
  })

  it('is the proven value in any spacing, and no other one', () => {
    const isSame = (shown: string | null, json: string | null) => isSameJson(shown, { json, impliedJson: null })
    expect(isSame('{"a":[1,"2"]}', '{ "a": [1, "2"] }')).toBe(true)
    expect(isSame('{"a":[1,2]}', '{"a":[1,"2"]}')).toBe(false)
    expect(isSame(null, null)).toBe(true)
    expect(isSame(null, '{}')).toBe(false)
    expect(isSame('null', null)).toBe(false)
  })

  it('is exactly the account that follows from its absence', () => {
    const implied = `{"sequence_number":"0","authentication_key":"0x${'0'.repeat(60)}beef"}`
    const isSame = (shown: string | null, json: string | null) => isSameJson(shown, { json, impliedJson: implied })
    expect(isSame(implied, null)).toBe(true)
    expect(isSame(null, null)).toBe(true)
    for (const lie of [
      '{"sequence_number":"0"}',
      implied.replace('"0"', '"1"'),
      implied.replace('"0"', '0'),
      implied.replace('beef', 'cafe'),
      implied.replace('}', ',"balance":"1"}'),
      `{"balance":"1",${implied.slice(1)}`,
      'null',
      '{}',
    ]) {
      expect(isSame(lie, null), lie).toBe(false)
    }
    expect(isSame(implied, '{"sequence_number":"1"}')).toBe(false)
  })
})

describe('nearestVersion', () => {
  it('is the nearer one, the first of two as near, and the first if nothing is known', () => {
    const versions = ['90', '50', '10']
    expect(['100', '71', '70', '69', '11', '0'].map((to) => nearestVersion(versions, to))).toEqual([
      '90',
      '90',
      '90',
      '50',
      '10',
      '10',
    ])
    expect(nearestVersion(versions, undefined)).toBe('90')
    expect(nearestVersion([], '7')).toBe(undefined)
    expect(nearestVersion(['9007199254740994', '9007199254740990'], '9007199254740993')).toBe('9007199254740994')
  })
})
