import { codecOf, type Layout, parseJson } from '@ledger-state/bcs'
import { hexToBytes, isLedgerStateError, parseAddress, parseU64 } from '@ledger-state/core'
import { createStepCounter } from '@ledger-state/testing/count-steps'
import { decodeStateKey, parseTypeTag, tableItemKey } from '@ledger-state/type-tag'
import { afterAll, describe, expect, it } from 'vitest'
import { moduleAbi } from './module-abi.js'
import type { SignatureToken } from './module-definition.js'
import { readModule, readModuleInterface } from './read-module.js'
import { writeModule } from './write-module.js'

// Hostile input of growing size, for the parsers of this package and of all packages below it.

const SMALL = 1_000
const GROWTH = 8
/**
 * Most times the steps for 8 times the input. Linear work takes 8 times as many, a little more if longer numbers take
 * more bytes, and quadratic work takes 64 times.
 */
const MAX_RATIO = 10

const counter = createStepCounter()
afterAll(() => counter.stop())

/** Counts the steps of work that may refuse its input. */
function stepsOf(work: () => unknown): number {
  return counter.count(() => {
    try {
      work()
    } catch (error) {
      if (!isLedgerStateError(error)) throw error
    }
  })
}

function expectLinear(work: (size: number) => () => unknown): void {
  const small = work(SMALL)
  const large = work(SMALL * GROWTH)
  // The first run compiles everything that is compiled only once.
  stepsOf(small)
  const before = stepsOf(small)
  const after = stepsOf(large)
  expect(before).toBeGreaterThan(0)
  expect(after / before, `${before} steps became ${after}`).toBeLessThan(MAX_RATIO)
}

const texts = (families: Readonly<Record<string, (size: number) => string>>) => Object.entries(families)

describe('parseJson', () => {
  const list = (item: string) => (size: number) => `[${new Array(size).fill(item).join()}]`
  it.each(
    texts({
      numbers: list('1'),
      strings: list('""'),
      objects: list('{}'),
      escapes: (size) => `"${'\\n'.repeat(size)}"`,
      surrogates: (size) => `"${'\\ud83d\\ude00'.repeat(size)}"`,
      'a long number': (size) => `${'1'.repeat(size)}.${'2'.repeat(size)}e${'3'.repeat(size)}`,
      members: (size) => `{${Array.from({ length: size }, (_, at) => `"m${at}":1`).join()}}`,
      'one member again and again': (size) => `{${new Array(size).fill('"m":1').join()}}`,
      'white space': (size) => `${' '.repeat(size)}1${'\n'.repeat(size)}`,
      'lines before a fault': (size) => `${'\n'.repeat(size)}x`,
      'an open string': (size) => `"${'a'.repeat(size)}`,
    }),
  )('takes time linear in the length of a text of %s', (_, text) => {
    expectLinear((size) => {
      const input = text(size)
      return () => parseJson(input)
    })
  })

  it('refuses open brackets before it has read them all', () => {
    expect(stepsOf(() => parseJson('['.repeat(1_000_000)))).toBeLessThan(10_000)
  })
})

describe('parseTypeTag', () => {
  it.each(
    texts({
      arguments: (size) => `0x1::m::S<${new Array(size).fill('u8').join()}>`,
      'a long name': (size) => `0x1::m::${'a'.repeat(size)}`,
      'a long address': (size) => `0x${'0'.repeat(size)}::m::S`,
      spaces: (size) => `${' '.repeat(size)}u8${' '.repeat(size)}`,
      'vectors in arguments': (size) => `0x1::m::S<${new Array(size >> 3).fill('vector<vector<u8>>').join()}>`,
      'a fault at the end': (size) => `0x1::m::S<${'u8,'.repeat(size)}`,
    }),
  )('takes time linear in the length of a text of %s', (_, text) => {
    expectLinear((size) => {
      const input = text(size)
      return () => parseTypeTag(input)
    })
  })
})

describe('texts of numbers and bytes', () => {
  it.each(
    texts({
      digits: (size) => '1'.repeat(size),
      zeros: (size) => '0'.repeat(size),
      'a fault at the end': (size) => `${'0'.repeat(size)}g`,
    }),
  )('are read in linear time: %s', (_, text) => {
    for (const parse of [hexToBytes, parseAddress, parseU64]) {
      const steps = (size: number) => stepsOf(() => parse(text(size)))
      expect(steps(SMALL * GROWTH)).toBeLessThan(MAX_RATIO * steps(SMALL) + 1_000)
    }
  })
})

describe('a codec', () => {
  const u8: Layout = { kind: 'u8' }
  const bytes: Layout = { kind: 'vector', element: u8 }
  const pair: Layout = {
    kind: 'struct',
    name: 'Pair',
    fields: [
      { name: 'z', layout: bytes },
      { name: 'a', layout: bytes },
    ],
  }
  const shape: Layout = { kind: 'enum', name: 'Shape', variants: [{ name: 'Pair', fields: pair.fields }] }
  const item: readonly (readonly [string, Layout, string])[] = [
    ['bytes', bytes, '"0x0102"'],
    ['structs', pair, '{"z":"0x01","a":"0x"}'],
    ['enums', shape, '{"Pair":{"z":"0x01","a":"0x"}}'],
    ['addresses', { kind: 'address' }, '"0x1"'],
    ['wide integers', { kind: 'u256' }, '"340282366920938463463374607431768211455"'],
    ['texts', { kind: 'string' }, '"text"'],
    ['options', { kind: 'option', declaredAs: 'enum', element: u8 }, '{"vec":[1]}'],
  ]
  it.each(item)('takes time linear in the length of lists of %s', (_, element, json) => {
    const codec = codecOf({ kind: 'vector', element })
    const key = (size: number) => parseJson(`[${new Array(size).fill(json).join()}]`)
    expectLinear((size) => {
      const value = key(size)
      return () => codec.jsonToBytes(value)
    })
    expectLinear((size) => {
      const value = codec.jsonToBytes(key(size))
      return () => codec.bytesToJson(value)
    })
    // The fault is in the last element.
    expectLinear((size) => {
      const value = [...(key(size) as never[]), null as never]
      return () => codec.jsonToBytes(value)
    })
  })

  it('compiles a shared part once', () => {
    let layout: Layout = bytes
    const steps = (levels: number) => {
      layout = bytes
      for (let level = 0; level < levels; level++) {
        const inner: Layout = layout
        layout = {
          kind: 'struct',
          name: 'S',
          fields: [
            { name: 'a', layout: inner },
            { name: 'b', layout: inner },
          ],
        }
      }
      return stepsOf(() => codecOf(layout).bytesToJson(new Uint8Array(0)))
    }
    steps(10)
    expect(steps(40) / steps(10)).toBeLessThan(MAX_RATIO)
  })
})

describe('state keys and modules', () => {
  it('are decoded in linear time where the keys are of table items', () => {
    expect(stepsOf(() => decodeStateKey(tableItemKey(new Uint8Array(32), new Uint8Array(1 << 20))))).toBeLessThan(1_000)
  })

  it('are printed as ABIs no longer than a limit', () => {
    const long = {
      kind: 'struct',
      module: { address: new Uint8Array(32), name: 'm'.repeat(60_000) },
      name: 'S',
    } as const
    const type: SignatureToken = { kind: 'vector', element: { ...long, typeArguments: [] } }
    const fields = Array.from({ length: 200 }, (_, at) => ({ name: `f${at}`, type }))
    const structs = ['A', 'B'].map((name) => ({
      kind: 'struct' as const,
      name,
      abilities: 0,
      typeParameters: [],
      fields,
    }))
    const binary = writeModule({ version: 7, address: new Uint8Array(32), name: 'm', structs })
    expect(() => moduleAbi(readModuleInterface(binary))).toThrow(expect.objectContaining({ code: 'type_too_large' }))
  })

  it('are read in linear time', () => {
    expectLinear((size) => {
      const structs = Array.from({ length: size >> 3 }, (_, at) => ({
        kind: 'struct' as const,
        name: `S${at}`,
        abilities: 0,
        typeParameters: [],
        fields: [
          { name: 'a', type: { kind: 'vector', element: { kind: 'u8' } } as const },
          { name: `b${at}`, type: { kind: 'u64' } as const },
        ],
      }))
      const binary = writeModule({ version: 7, address: new Uint8Array(32), name: 'm', structs })
      return () => readModule(binary)
    })
  })
})
