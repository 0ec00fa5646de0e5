import { isLedgerStateError, parseAddress } from '@ledger-state/core'
import { sha3 } from '@ledger-state/proof'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseSliceLines, parseSliceSpec, sliceDigest, sliceSpecToLines } from './slice-spec.js'

const LINES = ['0x2', '0xcafe', 'table 0x1', 'table 0x7ab1e3', '0x1::coin::CoinInfo<0x2::m::A>', '0xcafe::*']

describe('the specification of a slice', () => {
  it('has the entries that its lines ask for, each once and in one order, in spite of any other lines', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...LINES, ...LINES], { minLength: 1 }), (lines) => {
        const told = lines.flatMap((line) => ['', `  ${line.replace(' ', ' \t ')}\t# a comment # more\r`, '# 0xf00d'])
        const spec = parseSliceSpec({ lines: told })
        const expected = LINES.filter((line) => lines.includes(line))
        expect([...sliceSpecToLines(spec)]).toEqual(expected)
        expect(sliceDigest(spec)).toEqual(new Uint8Array(sha3(new TextEncoder().encode(expected.join('\n')))))
      }),
    )
  })

  it('is the same from texts and from lines', () => {
    const texts = {
      accounts: ['0xCAFE', '2', '0xcafe'],
      tables: ['0x7ab1e3', '0x1'],
      types: ['0xcafe::*', '0x1::coin::CoinInfo<0x2::m::A>'],
    }
    expect(sliceDigest(parseSliceSpec(texts))).toEqual(sliceDigest(parseSliceSpec({ lines: LINES })))
    expect(sliceDigest(parseSliceSpec({ accounts: ['0x2', '0xcafe'], lines: LINES.slice(2) }))).toEqual(
      sliceDigest(parseSliceSpec({ lines: LINES })),
    )
  })

  it('has the digest of all lines if they are many', () => {
    const lines = Array.from({ length: 5_000 }, (_, at) => `0x${(at + 1).toString(16)}`)
    const expected = new Uint8Array(sha3(new TextEncoder().encode(lines.join('\n'))))
    expect(sliceDigest(parseSliceSpec({ lines: lines.toReversed() }))).toEqual(expected)
  })

  it('lists lines of three kinds one after another', () => {
    const [account, table, type] = [...parseSliceLines(['0xcafe', 'table 0x7', '0x1::m::*'])]
    expect(account).toEqual({ kind: 'account', id: parseAddress('0xcafe') })
    expect(table).toEqual({ kind: 'table', id: parseAddress('0x7') })
    expect(type).toMatchObject({ kind: 'type', pattern: { module: 'm', name: undefined } })
  })

  it.each([
    ['0xzz', /^line 3: .*'z' at position 0.*; expected an address, "table" and a handle, or a type$/],
    ['table', /^line 3: /],
    ['table 0x1 0x2', /^line 3: /],
    ['0x1::coin::', /^line 3: /],
    ['0x1::*::Coin', /^line 3: /],
  ])('refuses the line %j with its number', (line, message) => {
    const failure = (() => {
      try {
        return parseSliceSpec({ lines: ['0x1', '# comment', line] })
      } catch (error) {
        return error
      }
    })()
    expect(isLedgerStateError(failure, 'invalid_slice') && failure.message).toMatch(message)
  })

  it('must ask for something', () => {
    for (const texts of [{}, { lines: ['', '# nothing'] }]) {
      expect(() => parseSliceSpec(texts)).toThrow('the slice is empty: name an account, a table or a type')
    }
  })
})
