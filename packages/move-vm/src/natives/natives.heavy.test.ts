import { hexToBytes, parseAddress } from '@ledger-state/core'
import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { sha3_256 } from '@noble/hashes/sha3.js'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryLedger, type MemoryState } from '../../testing/kits.js'
import { type NativeAnswer, NativeBed } from '../../testing/native-bed.js'
import { MOST_ELEMENTS, MOST_VECTOR_BYTES } from '../budget/meter.js'
import { STATUS } from '../faults/status.js'
import { ByteVector } from '../values/byte-vector.js'
import { ClosureValue, Reference, StructValue, type Value, VectorValue } from '../values/value.js'
import { areValidatorTransactionsEnabled } from './consensus-config.js'
import { ENCODED_AT_ONCE } from './encode-all.js'
import { SESSION_HASH } from './session.js'

// Natives over the genesis of a development network, called as the interpreter calls them.

const ONE = '1'.padStart(64, '0')
const ref = (value: Value): Reference => new Reference([value], 0)
const bytes = (...items: number[]) => new ByteVector(Uint8Array.from(items))
const text = (value: string) => new ByteVector(new TextEncoder().encode(value))
const string = (value: string) => new StructValue(0, [text(value)])
const asText = (value: Value | undefined) =>
  new TextDecoder().decode(((value as StructValue).fields[0] as ByteVector).view())
const abort = (code: number): NativeAnswer => ({ kind: 'abort', code })
const hex = (value: Value | undefined) => bytesToHexDigits((value as ByteVector).view())

describe.skipIf(!hasSharedData).each([
  ['at once', false],
  ['in pieces', true],
])('natives that run %s', (_, isInPieces) => {
  let state: MemoryState
  let bed: NativeBed
  beforeAll(async () => {
    const ledger = await MemoryLedger.load('data/genesis/devnet.genesis.blob')
    state = ledger.at(ledger.latest)
    bed = new NativeBed(state, { isInPieces })
  })

  const format = (type: string, value: Value, ...flags: [boolean, boolean, boolean, boolean] | []) => {
    const style = flags.length > 0 ? flags : [false, false, true, false]
    return asText(bed.results('0x1::string_utils::native_format', [type], ref(value), ...style)[0])
  }

  it('format plain values', () => {
    expect(format('bool', true)).toBe('true')
    expect(format('u128', 2n ** 127n)).toBe(String(2n ** 127n))
    expect(format('i8', -3, false, false, true, true)).toBe('-3i8')
    expect(format('u64', 5, false, false, true, true)).toBe('5u64')
    expect(format('address', ONE)).toBe('@0x1')
    expect(format('address', '0'.repeat(64))).toBe('@0x0')
    expect(format('address', ONE, false, true, true, false)).toBe(`@${ONE}`)
    expect(format('signer', new StructValue(0, [ONE]))).toBe('signer(@0x1)')
    expect(format('vector<u8>', bytes(10, 11))).toBe('0x0a0b')
    expect(format('vector<u8>', bytes())).toBe('0x')
    expect(format('vector<u16>', new VectorValue([1, 2, 3]))).toBe('[ 1, 2, 3 ]')
    expect(format('vector<u16>', new VectorValue([]))).toBe('[]')
    expect(format('0x1::string::String', string('a"b\\c\n'))).toBe('"a\\"b\\\\c\n"')
  })

  it('format structs, enums, options and their contents', () => {
    const fixed = new StructValue(0, [7])
    expect(format('0x1::fixed_point32::FixedPoint32', fixed)).toBe('FixedPoint32 { value: 7 }')
    expect(format('0x1::fixed_point32::FixedPoint32', fixed, true, false, false, false)).toBe(
      '0x1::fixed_point32::FixedPoint32 {\n  value: 7\n}',
    )
    const some = bed.decode('0x1::option::Option<u8>', Uint8Array.of(1, 9))!
    expect(format('0x1::option::Option<u8>', some)).toBe('Some(9)')
    expect(format('0x1::option::Option<u8>', bed.decode('0x1::option::Option<u8>', Uint8Array.of(0))!)).toBe('None')
    expect(format('vector<0x1::option::Option<u8>>', new VectorValue([some]), false, false, false, false)).toBe(
      '[\n  Some(9)\n]',
    )
    expect(format('0x1::cmp::Ordering', new StructValue(1, []))).toBe('#1{}')
    const result = '0x1::result::Result<0x1::string::String, u8>'
    // Within an enum, fields have no names.
    expect(format(result, new StructValue(0, [string('hi')]))).toBe('#0{ { 0x6869 } }')
    expect(format(result, new StructValue(0, [string('hi')]), false, false, false, false)).toBe(
      '#0{\n  {\n    0x6869\n  }\n}',
    )
    expect(format('0x1::result::Result<0x1::option::Option<u8>, u8>', new StructValue(0, [some]))).toBe('#0{ #1{ 9 } }')
  })

  it('format closures by their function and the captured values', () => {
    const type = bed.functionType(['u64'], [])
    const target = { address: ONE, module: 'vector', name: 'borrow', typeArguments: [bed.type('u8')] }
    const formatted = (mask: bigint, captured: Value[], isSingleLine = true) => {
      const closure = ref(new ClosureValue(target, mask, captured, []))
      const style = [false, false, isSingleLine, false]
      return asText(bed.results('0x1::string_utils::native_format', [type], closure, ...style)[0])
    }
    expect(formatted(0n, [])).toBe('0x1::vector::borrow<u8>()')
    expect(formatted(0b10n, [4])).toBe('0x1::vector::borrow<u8>(_, 4, ..)')
    expect(formatted(0b10n, [4], false)).toBe('0x1::vector::borrow<u8>(_,\n  4,\n  ..)')
  })

  it('format lists', () => {
    const cons = (types: string[]): string =>
      types.length === 0 ? '0x1::string_utils::NIL' : `0x1::string_utils::Cons<${types[0]}, ${cons(types.slice(1))}>`
    const list = (items: Value[]): Value =>
      items.length === 0 ? new StructValue(0, [false]) : new StructValue(0, [items[0]!, list(items.slice(1))])
    const formatList = (template: string, types: string[], items: Value[]) =>
      bed.call('0x1::string_utils::native_format_list', [cons(types)], ref(text(template)), ref(list(items)))
    const formatted = (answer: NativeAnswer) => (answer.kind === 'results' ? asText(answer.results[0]) : answer)
    expect(formatted(formatList('a {} b {{}} {}', ['u8', '0x1::string::String'], [1, string('x')]))).toBe(
      'a 1 b {} "x"',
    )
    expect(formatList('{}', [], [])).toEqual(abort(1))
    expect(formatList('', ['u8'], [1])).toEqual(abort(1))
    for (const bad of ['{', '}', '{x}', '{} }', '}{']) expect(formatList(bad, ['u8'], [1])).toEqual(abort(2))
    // The first fault is the one that is reported.
    expect(formatList('{} {x', [], [])).toEqual(abort(1))
    const notUtf8 = bed.call('0x1::string_utils::native_format_list', [cons([])], ref(bytes(0xff)), ref(list([])))
    expect(notUtf8).toEqual(abort(2))
  })

  it('search texts as Rust does', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b', 'é') }),
        fc.string({ unit: fc.constantFrom('a', 'b', 'é'), maxLength: 4 }),
        (whole, part) => {
          const [found] = bed.results('0x1::string::internal_index_of', [], ref(text(whole)), ref(text(part)))
          const at = Buffer.from(whole).indexOf(Buffer.from(part))
          expect(found).toBe(at < 0 ? Buffer.byteLength(whole) : at)
        },
      ),
    )
    const boundary = (at: number | bigint) =>
      bed.results('0x1::string::internal_is_char_boundary', [], ref(text('aé')), at)[0]
    expect([0, 1, 2, 3, 4, 2n ** 60n].map(boundary)).toEqual([true, true, false, true, false, false])
    expect(bed.call('0x1::string::internal_sub_string', [], ref(text('abc')), 2, 1)).toEqual(abort(1))
    expect(hex(bed.results('0x1::string::internal_sub_string', [], ref(text('abc')), 1, 3)[0])).toBe('6263')
    expect(bed.call('0x1::string::internal_sub_string', [], ref(text('abc')), 1, 4)).toMatchObject({ status: 2000 })
    expect(bed.results('0x1::string::internal_check_utf8', [], ref(bytes(0xc3, 0xa9)))).toEqual([true])
    expect(bed.results('0x1::string::internal_check_utf8', [], ref(bytes(0xc3)))).toEqual([false])
  })

  it('report the types of values', () => {
    const type = '0x1::table::Table<u64, 0x1::option::Option<bool>>'
    const [info] = bed.results('0x1::type_info::type_of', [type]) as [StructValue]
    expect(info.fields[0]).toBe(ONE)
    expect(new TextDecoder().decode((info.fields[1] as ByteVector).view())).toBe('table')
    expect(new TextDecoder().decode((info.fields[2] as ByteVector).view())).toBe(
      'Table<u64, 0x1::option::Option<bool>>',
    )
    expect(bed.call('0x1::type_info::type_of', ['u8'])).toEqual(abort(1))
    expect(asText(bed.results('0x1::type_info::type_name', [`vector<${type}>`])[0])).toBe(`vector<${type}>`)
    // The chain id of the network whose genesis this is.
    expect(bed.results('0x1::type_info::chain_id_internal', [])).toEqual([243])
  })

  it('report the sizes of values', () => {
    const size = (type: string) => {
      const [option] = bed.results('0x1::bcs::constant_serialized_size', [type])
      return format('0x1::option::Option<u64>', option!)
    }
    expect(size('u8')).toBe('Some(1)')
    expect(size('i256')).toBe('Some(32)')
    expect(size('0x1::fixed_point64::FixedPoint64')).toBe('Some(16)')
    for (const type of [
      'vector<u8>',
      '0x1::string::String',
      'signer',
      '0x1::option::Option<u8>',
      '0x1::cmp::Ordering',
    ]) {
      expect(size(type)).toBe('None')
    }
    expect(bed.results('0x1::bcs::serialized_size', ['0x1::string::String'], ref(string('abc')))).toEqual([4])
    expect(hex(bed.results('0x1::bcs::to_bytes', ['signer'], ref(new StructValue(0, [ONE])))[0])).toBe(ONE)
    const read = (type: string, ...items: number[]) => bed.call('0x1::from_bcs::from_bytes', [type], bytes(...items))
    expect(read('u16', 1, 2)).toEqual({ kind: 'results', results: [513] })
    expect(read('u16', 1)).toEqual(abort(0x10001))
    expect(read('u16', 1, 2, 3)).toEqual(abort(0x10001))
    expect(read('bool', 2)).toEqual(abort(0x10001))
    expect(read('signer', ...new Array<number>(32).fill(0))).toEqual(abort(0x10001))
    expect(read('vector<signer>', 0)).toEqual(abort(0x10001))
  })

  it('swap and move elements', () => {
    const places: Value[] = [1, 2]
    bed.results('0x1::mem::swap', ['u8'], new Reference(places, 0), new Reference(places, 1))
    expect(places).toEqual([2, 1])
    fc.assert(
      fc.property(
        fc.array(fc.nat(255)),
        fc.array(fc.nat(255)),
        fc.nat(30),
        fc.nat(30),
        fc.nat(30),
        fc.boolean(),
        (from, to, start, count, at, isBytes) => {
          const make = (items: number[]) => (isBytes ? bytes(...items) : new VectorValue([...items]))
          const read = (value: Value) =>
            value instanceof ByteVector ? [...value.view()] : (value as VectorValue).items
          const [a, b] = [make(from), make(to)]
          const answer = bed.call('0x1::vector::move_range', ['u8'], ref(a), start, count, ref(b), at)
          if (start + count > from.length || at > to.length) {
            expect(answer).toEqual(abort(1))
            return
          }
          expect(answer).toEqual({ kind: 'results', results: [] })
          expect(read(a)).toEqual(from.toSpliced(start, count))
          expect(read(b)).toEqual(to.toSpliced(at, 0, ...from.slice(start, start + count)))
        },
      ),
    )
    const off = new NativeBed(state, { isInPieces, flags: { 80: false } })
    expect(off.call('0x1::mem::swap', ['u8'], ref(1), ref(2))).toEqual(abort(0xd0001))
    expect(off.call('0x1::vector::move_range', ['u8'], ref(bytes()), 0, 0, ref(bytes()), 0)).toEqual(abort(0xd0002))
  })

  it('move long ranges as short ones', () => {
    const longList = fc.tuple(fc.nat(30_000), fc.nat(9)).map(([length, salt]) => {
      return Array.from({ length }, (_, at) => (at * 7 + salt) % 251)
    })
    fc.assert(
      fc.property(longList, longList, fc.nat(), fc.nat(), fc.nat(), (from, to, first, most, place) => {
        const start = first % (from.length + 1)
        const count = most % (from.length - start + 1)
        const at = place % (to.length + 1)
        const [a, b] = [new VectorValue([...from]), new VectorValue([...to])]
        bed = new NativeBed(state, { isInPieces })
        bed.results('0x1::vector::move_range', ['u64'], ref(a), start, count, ref(b), at)
        const moved = from.splice(start, count)
        to.splice(at, 0, ...moved)
        expect(a.items).toEqual(from)
        expect(b.items).toEqual(to)
      }),
      { numRuns: 20 },
    )
    const one = ref(new VectorValue([1, 2, 3]))
    expect(bed.call('0x1::vector::move_range', ['u64'], one, 0, 1, one, 0)).toMatchObject({ kind: 'error' })
  })

  it('make no vector that is too long for a turn', () => {
    const limit = { kind: 'fault', status: STATUS.EXECUTION_LIMIT_REACHED }
    const zeros = (length: number) => new ByteVector(new Uint8Array(length))
    const list = (length: number) => new VectorValue(new Array<Value>(length).fill(1))
    const move = (type: string, from: Value, count: number, to: Value) => {
      bed = new NativeBed(state, { isInPieces })
      return bed.call('0x1::vector::move_range', [type], ref(from), 0, count, ref(to), 0)
    }
    const [bytes, items] = [zeros(MOST_VECTOR_BYTES - 3), list(MOST_ELEMENTS - 3)]
    expect(move('u8', zeros(4), 4, bytes)).toMatchObject(limit)
    expect(move('u64', list(4), 4, items)).toMatchObject(limit)
    expect([bytes.length, items.items.length]).toEqual([MOST_VECTOR_BYTES - 3, MOST_ELEMENTS - 3])
    expect(move('u8', zeros(4), 3, bytes)).toMatchObject({ kind: 'results' })
    expect(move('u64', list(4), 3, items)).toMatchObject({ kind: 'results' })
    expect([bytes.length, items.items.length]).toEqual([MOST_VECTOR_BYTES, MOST_ELEMENTS])
    bed = new NativeBed(state, { isInPieces })
    expect(bed.call('0x1::bcs::to_bytes', ['vector<u8>'], ref(bytes))).toMatchObject(limit)
  })

  it('check and cut long texts as short ones', () => {
    const check = (text: Uint8Array) =>
      bed.results('0x1::string::internal_check_utf8', [], ref(new ByteVector(copyBytes(text))))[0]
    const cut = (text: Uint8Array, from: number, to: number) =>
      bed.results(
        '0x1::string::internal_sub_string',
        [],
        ref(new ByteVector(copyBytes(text))),
        from,
        to,
      )[0] as ByteVector
    const border = 1 << 16
    for (const character of ['a', 'é', '€', '𝄞']) {
      const bytes = new TextEncoder().encode(character)
      for (let before = 0; before < 5; before++) {
        const text = new TextEncoder().encode('a'.repeat(border - before) + character + 'b'.repeat(border))
        expect(check(text), `${character} ${before}`).toBe(true)
        for (let at = 0; at < bytes.length; at++) {
          const damaged = Uint8Array.from(text)
          damaged[border - before + at] = 0xff
          expect(check(damaged)).toBe(false)
          const short = [...text.subarray(0, border - before + at), ...text.subarray(border - before + at + 1)]
          expect(check(Uint8Array.from(short))).toBe(bytes.length === 1)
        }
      }
    }
    expect(check(new Uint8Array(3 * border).fill(0x80))).toBe(false)
    const long = Uint8Array.from({ length: (1 << 20) + 5 }, (_, at) => at % 251)
    for (const [from, to] of [
      [0, long.length],
      [3, long.length - 1],
      [7, 7],
    ] as const) {
      expect(Buffer.compare(cut(long, from, to).view(), long.subarray(from, to))).toBe(0)
    }
  })

  it('compare values, not their bytes', () => {
    const order = (a: Value, b: Value) =>
      (bed.results('0x1::cmp::compare', ['u8'], ref(a), ref(b))[0] as StructValue).variant
    expect([order(1, 2), order(2, 2), order(256, 1)]).toEqual([0, 1, 2])
    expect([order(-1, 0), order(2n ** 60n, 5), order(false, true)]).toEqual([0, 2, 0])
    expect(order(bytes(1, 2), bytes(1, 2, 0))).toBe(0)
    expect(order(new VectorValue([1]), new VectorValue([0, 9]))).toBe(2)
    expect(order(new StructValue(1, [0]), new StructValue(0, [9]))).toBe(2)
  })

  it('read and write tables', () => {
    const types = ['u8', 'u64', '0x1::table::Box<u64>']
    const [handle] = bed.results('0x1::table::new_table_handle', ['u8', 'u64'])
    expect(handle).toBe(bytesToHexDigits(sha3_256(Uint8Array.from([...SESSION_HASH, 0, 0, 0, 0]))))
    const table = ref(new StructValue(0, [handle!]))
    const box = (value: number) => new StructValue(0, [value])
    expect(bed.results('0x1::table::contains_box', types, table, 1)).toEqual([false])
    expect(bed.call('0x1::table::borrow_box', types, table, 1)).toEqual(abort(25863))
    expect(bed.results('0x1::table::add_box', types, table, 1, box(5))).toEqual([])
    expect(bed.call('0x1::table::add_box', types, table, 1, box(6))).toEqual(abort(25607))
    const [borrowed] = bed.results('0x1::table::borrow_box_mut', types, table, 1) as [Reference]
    expect((borrowed.slots[borrowed.index] as StructValue).fields).toEqual([5])
    expect(bed.results('0x1::table::contains_box', types, table, 1)).toEqual([true])
    expect(bed.results('0x1::table::remove_box', types, table, 1)).toEqual([box(5)])
    expect(bed.call('0x1::table::remove_box', types, table, 1)).toEqual(abort(25863))
    const [next] = bed.results('0x1::table::new_table_handle', ['u8', 'u64'])
    expect(next).toBe(bytesToHexDigits(sha3_256(Uint8Array.from([...SESSION_HASH, 0, 0, 0, 1]))))
  })

  it('read and write aggregators of the first kind', () => {
    const factory = ref(new StructValue(0, [new StructValue(0, [ONE])]))
    const [made] = bed.results('0x1::aggregator_factory::new_aggregator', [], factory, 10)
    const aggregator = ref(made!)
    const run = (name: string, ...args: Value[]) => bed.call(`0x1::aggregator::${name}`, [], aggregator, ...args)
    expect(run('add', 7)).toEqual({ kind: 'results', results: [] })
    expect(run('add', 4)).toEqual(abort(0x20001))
    expect(run('sub', 8)).toEqual(abort(0x20002))
    expect(run('sub', 3)).toEqual({ kind: 'results', results: [] })
    expect(run('read')).toEqual({ kind: 'results', results: [4] })
    const unknown = ref(new StructValue(0, [ONE, ONE, 10]))
    expect(bed.call('0x1::aggregator::add', [], unknown, 3)).toEqual({ kind: 'results', results: [] })
    expect(bed.call('0x1::aggregator::read', [], unknown)).toMatchObject({ status: 4026 })
  })

  /** Calls natives of aggregators with a limit of 10 whose stored values are 5. */
  function storedAggregators() {
    const stored = Uint8Array.from({ length: 16 }, (_, at) => (at === 0 ? 5 : 0))
    const isItem = (key: Uint8Array) => key[0] === 1 && bytesToHexDigits(key).slice(2, 66) === ONE
    const overlay = new NativeBed({ read: (key) => (isItem(key) ? stored : state.read(key)) }, { isInPieces })
    return (name: string, key: number, ...args: Value[]) => {
      const aggregator = ref(new StructValue(0, [ONE, String(key).padStart(64, '0'), 10]))
      return overlay.call(`0x1::aggregator::${name}`, [], aggregator, ...args)
    }
  }
  const ok = { kind: 'results', results: [] }

  it('read aggregators of the first kind with the whole history of their changes', () => {
    const run = storedAggregators()
    expect(run('sub', 1, 4)).toEqual(ok)
    expect(run('add', 1, 8)).toEqual(ok)
    expect(run('read', 1)).toEqual({ kind: 'results', results: [9] })
    // The value was 11 on the way, above the limit.
    expect(run('add', 2, 6)).toEqual(ok)
    expect(run('sub', 2, 3)).toEqual(ok)
    expect(run('read', 2)).toEqual(abort(0x20001))
    // It was -1 on the way.
    expect(run('sub', 3, 6)).toEqual(ok)
    expect(run('add', 3, 3)).toEqual(ok)
    expect(run('read', 3)).toEqual(abort(0x20002))
  })

  it('check changes of aggregators of the first kind against the value once it was read', () => {
    const run = storedAggregators()
    expect(run('read', 4)).toEqual({ kind: 'results', results: [5] })
    expect(run('sub', 4, 6)).toEqual(abort(0x20002))
    expect(run('add', 4, 6)).toEqual(abort(0x20001))
    expect(run('add', 4, 5)).toEqual(ok)
    expect(run('read', 4)).toEqual({ kind: 'results', results: [10] })
    // Before a read, no more than the limit may be added or subtracted.
    expect(run('add', 5, 11)).toEqual(abort(0x20001))
    expect(run('sub', 5, 11)).toEqual(abort(0x20002))
    expect(run('add', 5, 5)).toEqual(ok)
    expect(run('sub', 5, 11)).toEqual(abort(0x20002))
    expect(run('sub', 5, 10)).toEqual(ok)
    expect(run('sub', 5, 6)).toEqual(abort(0x20002))
    expect(run('sub', 5, 5)).toEqual(ok)
    // Only a read tells whether a sum that was below 0 is too large.
    expect(run('add', 5, 21)).toEqual(ok)
    expect(run('read', 5)).toEqual(abort(0x20001))
  })

  it('read and write aggregators of the second kind, snapshots and derived strings', () => {
    const name = (one: string) => `0x1::aggregator_v2::${one}`
    const [made] = bed.results(name('create_aggregator'), ['u64'], 10)
    const aggregator = ref(made!)
    expect(bed.results(name('try_add'), ['u64'], aggregator, 11)).toEqual([false])
    expect(bed.results(name('try_add'), ['u64'], aggregator, 10)).toEqual([true])
    expect(bed.results(name('try_sub'), ['u64'], aggregator, 4)).toEqual([true])
    expect(bed.results(name('read'), ['u64'], aggregator)).toEqual([6])
    expect(bed.results(name('is_at_least_impl'), ['u64'], aggregator, 6)).toEqual([true])
    expect(bed.results(name('is_at_least_impl'), ['u64'], aggregator, 7)).toEqual([false])
    expect(bed.call(name('read'), ['u8'], aggregator)).toEqual(abort(0x30007))
    expect(bed.results(name('create_unbounded_aggregator'), ['u128'])).toEqual([
      new StructValue(0, [0, 2n ** 128n - 1n]),
    ])
    const [snapshot] = bed.results(name('snapshot'), ['u64'], aggregator)
    expect(bed.results(name('read_snapshot'), ['u64'], ref(snapshot!))).toEqual([6])
    expect(bed.call(name('create_snapshot'), ['bool'], true)).toEqual(abort(0x30005))
    const [derived] = bed.results(name('derive_string_concat'), ['u64'], string('a'), ref(snapshot!), string('b'))
    expect(asText(bed.results(name('read_derived_string'), [], ref(derived!))[0])).toBe('a6b')
    // The size is the same as with the largest number.
    const size = (value: Value) =>
      bed.results('0x1::bcs::to_bytes', [name('DerivedStringSnapshot')], ref(value))[0] as ByteVector
    expect(size(derived!).length).toBe(1 + 22 + 1)
    const [short] = bed.results(name('create_derived_string'), [], string('abc'))
    expect(size(short!).length).toBe(22)
    const [long] = bed.results(name('create_derived_string'), [], string('x'.repeat(200)))
    expect(size(long!).length).toBe(2 + 200 + 1)
    expect(bed.call(name('create_derived_string'), [], string('x'.repeat(1025)))).toEqual(abort(0x30008))
    expect(bed.call(name('copy_snapshot'), ['u64'], ref(snapshot!))).toEqual(abort(0x30009))
  })

  it('convert addresses and signers', () => {
    const signer = new StructValue(0, [ONE])
    const [address] = bed.results('0x1::signer::borrow_address', [], ref(signer)) as [Reference]
    expect(address.slots[address.index]).toBe(ONE)
    expect(bed.results('0x1::create_signer::create_signer', [], ONE)).toEqual([signer])
    expect(bed.call('0x1::account::create_address', [], bytes(1))).toEqual(abort(2))
    const [derived] = bed.results('0x1::object::create_user_derived_object_address_impl', [], ONE, ONE)
    expect(derived).toBe(bytesToHexDigits(sha3_256(Uint8Array.from([...hexToBytes(ONE), ...hexToBytes(ONE), 0xfc]))))
    expect(bed.results('0x1::object::exists_at', ['0x1::chain_id::ChainId'], ONE)).toEqual([true])
    expect(bed.results('0x1::object::exists_at', ['0x1::chain_id::ChainId'], '2'.padStart(64, '0'))).toEqual([false])
  })

  it('derive addresses from both addresses in their order, even for more pairs than are remembered', () => {
    const derive = (source: string, from: string) =>
      bed.results('0x1::object::create_user_derived_object_address_impl', [], source, from)[0]
    const expected = (source: string, from: string) =>
      bytesToHexDigits(sha3_256(Uint8Array.from([...hexToBytes(source), ...hexToBytes(from), 0xfc])))
    const addressOf = (value: number) => value.toString(16).padStart(64, '0')
    for (const round of [0, 1]) {
      for (let at = 0; at < 1_100; at += round === 0 ? 1 : 50) {
        const [source, from] = [addressOf(at), addressOf(at % 7)]
        expect(derive(source, from)).toBe(expected(source, from))
        if (at % 100 === 0) expect(derive(from, source)).toBe(expected(from, source))
      }
    }
  })

  it('answer as a view, which is not a transaction', () => {
    const context = (name: string, ...args: Value[]) => bed.call(`0x1::transaction_context::${name}`, [], ...args)
    for (const name of ['sender_internal', 'gas_payer_internal', 'chain_id_internal']) {
      expect(context(name)).toEqual(abort(0x30001))
    }
    expect(hex(bed.results('0x1::transaction_context::get_txn_hash', [])[0])).toBe(bytesToHexDigits(SESSION_HASH))
    const [first] = bed.results('0x1::transaction_context::generate_unique_address', [])
    const [second] = bed.results('0x1::transaction_context::generate_unique_address', [])
    expect(first).toBe(bytesToHexDigits(sha3_256(Uint8Array.from([...SESSION_HASH, 1, 0, 0, 0, 0, 0, 0, 0, 0xfb]))))
    expect(second).not.toBe(first)
    expect(bed.call('0x1::randomness::fetch_and_increment_txn_counter', [])).toEqual(abort(1))
    expect(bed.results('0x1::randomness::is_unbiasable', [])).toEqual([false])
    expect(bed.call('0x1::code::request_publish', [])).toEqual({ kind: 'results', results: [] })
    expect(bed.call('0x1::code::request_publish', [])).toMatchObject({ status: 2006 })
  })

  it('read the configuration of consensus', () => {
    const config = state.read(
      resourceKey(parseAddress('0x1'), parseStructTag('0x1::consensus_config::ConsensusConfig')),
    )
    expect(config).toBeDefined()
    // The resource is a vector<u8>.
    const value = (bed.decode('0x1::consensus_config::ConsensusConfig', config!) as StructValue).fields[0] as ByteVector
    expect(bed.results('0x1::consensus_config::validator_txn_enabled_internal', [], value)).toEqual([true])
    expect(areValidatorTransactionsEnabled(value.view().subarray(0, -1))).toBe(false)
    expect(areValidatorTransactionsEnabled(new Uint8Array(0))).toBe(false)
  })

  it('recognise identifiers and functions', () => {
    const is = (name: string) => bed.results('0x1::function_info::is_identifier', [], ref(text(name)))[0]
    expect(['a', 'A_1$', '_a', '$$', '<SELF>', '<SELF>_7'].map(is)).toEqual([true, true, true, true, true, true])
    expect(['', '_', '$', '1a', 'a-b', 'é', '<SELF>_'].map(is)).toEqual([
      false,
      false,
      false,
      false,
      false,
      false,
      false,
    ])
    const info = (module: string, name: string) => ref(new StructValue(0, [ONE, string(module), string(name)]))
    expect(bed.call('0x1::function_info::load_function_impl', [], info('absent', 'f'))).toMatchObject({ status: 1081 })
    expect(bed.call('0x1::function_info::load_function_impl', [], info('9', 'f'))).toEqual(abort(1))
    const dispatch = '0x1::dispatchable_fungible_asset::dispatchable_derived_balance'
    const fresh = new NativeBed(state, { isInPieces })
    expect(fresh.call(dispatch, ['0x1::fungible_asset::FungibleStore'], ONE, info('coin', 'f'))).toEqual(abort(4))
    const left = info('dispatchable_fungible_asset', 'dispatchable_derived_balance')
    const compatible = (right: Reference) =>
      fresh.call('0x1::function_info::check_dispatch_type_compatibility_impl', [], left, right)
    expect(compatible(info('fungible_asset', 'balance'))).toEqual(abort(2))
    fresh.results('0x1::function_info::load_function_impl', [], info('fungible_asset', 'balance'))
    expect(compatible(info('fungible_asset', 'balance'))).toEqual({ kind: 'results', results: [true] })
    expect(compatible(info('fungible_asset', 'name'))).toEqual({ kind: 'results', results: [false] })
    expect(compatible(info('fungible_asset', 'absent'))).toEqual(abort(2))
  })

  it('resolve functions by name', () => {
    const resolve = (parameters: string[], results: string[], module: string, name: string) => {
      const type = bed.functionType(parameters, results)
      const [result] = bed.results('0x1::reflect::native_resolve', [type], ONE, ref(string(module)), ref(string(name)))
      const { variant, fields } = result as StructValue
      return variant === 0 ? (fields[0] as ClosureValue).target : (fields[0] as StructValue).variant
    }
    const two = ['u64', 'u64']
    const max = [ONE, ref(string('math64')), ref(string('max'))]
    const incompatible = new StructValue(1, [new StructValue(3, [])])
    expect(bed.results('0x1::reflect::native_resolve', ['u64'], ...max)).toEqual([incompatible])
    expect(resolve(two, ['u64'], 'math64', 'max')).toMatchObject({ name: 'max', typeArguments: [] })
    expect(resolve(two, ['u64'], 'math64', 'absent')).toBe(1)
    expect(resolve(two, ['u64'], 'absent', 'max')).toBe(1)
    expect(resolve(two, ['u64'], '1', 'max')).toBe(0)
    expect(resolve(['u64'], ['u64'], 'math64', 'max')).toBe(3)
    expect(resolve(['u64'], [], 'event', 'emit')).toBe(2)
    expect(resolve(['u64'], [], 'object', 'exists_at')).toBe(2)
    // Type arguments are inferred. One that cannot be is a separate fault.
    const some = { name: 'some', typeArguments: [bed.type('u8')] }
    expect(resolve(['u8'], ['0x1::option::Option<u8>'], 'option', 'some')).toMatchObject(some)
    expect(resolve(['u8'], ['0x1::option::Option<u16>'], 'option', 'some')).toBe(3)
    expect(resolve([], ['0x1::string::String'], 'type_info', 'type_name')).toBe(4)
    // They need the abilities that the function asks for.
    const any = ['0x1::copyable_any::Any']
    expect(resolve(['vector<u8>'], any, 'copyable_any', 'pack')).toMatchObject({ name: 'pack' })
    expect(resolve(['0x1::object::ConstructorRef'], any, 'copyable_any', 'pack')).toBe(3)
    expect(resolve(['vector<signer>'], any, 'copyable_any', 'pack')).toBe(3)
  })

  it('make points of ristretto255', () => {
    const name = (one: string) => `0x1::ristretto255::${one}`
    const scalar = (value: number) => new ByteVector(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? value : 0)))
    const point = (handle: Value | undefined) => ref(new StructValue(0, [handle!]))
    const [three] = bed.results(name('basepoint_mul_internal'), [], scalar(3))
    const [two] = bed.results(name('basepoint_mul_internal'), [], scalar(2))
    const [one] = bed.results(name('point_sub_internal'), [], point(three), point(two), false)
    const base = 'e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76'
    expect(hex(bed.results(name('point_compress_internal'), [], point(one))[0])).toBe(base)
    const [six] = bed.results(name('point_mul_internal'), [], point(two), scalar(3), false)
    const [sum] = bed.results(name('double_scalar_mul_internal'), [], one!, two!, scalar(2), scalar(2))
    expect(bed.results(name('point_equals'), [], point(six), point(sum))).toEqual([true])
    const structs = (values: Value[]) => ref(new VectorValue(values.map((value) => new StructValue(0, [value]))))
    const [all] = bed.results(
      name('multi_scalar_mul_internal'),
      ['u8', 'u8'],
      structs([one!, two!]),
      structs([scalar(4), scalar(1)]),
    )
    expect(bed.results(name('point_equals'), [], point(six), point(all))).toEqual([true])
    // The handle stays, and its point changes.
    expect(bed.results(name('point_add_internal'), [], point(two), point(one), true)).toEqual([two])
    expect(bed.results(name('point_equals'), [], point(two), point(three))).toEqual([true])
    expect(bed.results(name('point_decompress_internal'), [], bytes(1))).toEqual([2n ** 64n - 1n, false])
    expect(bed.call(name('scalar_neg_internal'), [], bytes(1))).toMatchObject({ status: 2009 })
    const fresh = new NativeBed(state, { isInPieces })
    for (let made = 0; made < 10_000; made++) fresh.results(name('point_identity_internal'), [])
    expect(fresh.call(name('point_identity_internal'), [])).toEqual(abort(0x90004))
  })

  it('make elements of crypto_algebra', () => {
    const name = (one: string) => `0x1::crypto_algebra::${one}_internal`
    const bls = (one: string) => `0x1::bls12381_algebra::${one}`
    const [g1] = bed.results(name('one'), [bls('G1')])
    const [g2] = bed.results(name('one'), [bls('G2')])
    const [gt] = bed.results(name('one'), [bls('Gt')])
    const [paired] = bed.results(name('pairing'), [bls('G1'), bls('G2'), bls('Gt')], g1!, g2!)
    expect(bed.results(name('eq'), [bls('Gt')], gt!, paired!)).toEqual([true])
    const [two] = bed.results(name('from_u64'), [bls('Fr')], 2)
    const [doubled] = bed.results(name('scalar_mul'), [bls('G1'), bls('Fr')], g1!, two!)
    const [twice] = bed.results(name('double'), [bls('G1')], g1!)
    expect(bed.results(name('eq'), [bls('G1')], doubled!, twice!)).toEqual([true])
    const list = (...handles: Value[]) => new VectorValue(handles)
    const [both] = bed.results(name('multi_pairing'), [bls('G1'), bls('G2'), bls('Gt')], list(g1!, g1!), list(g2!, g2!))
    const [gtTwice] = bed.results(name('double'), [bls('Gt')], gt!)
    expect(bed.results(name('eq'), [bls('Gt')], both!, gtTwice!)).toEqual([true])
    const [sum] = bed.results(name('multi_scalar_mul'), [bls('G1'), bls('Fr')], list(g1!), list(two!))
    expect(bed.results(name('eq'), [bls('G1')], sum!, twice!)).toEqual([true])
    expect(bed.call(name('multi_scalar_mul'), [bls('G1'), bls('Fr')], list(g1!), list())).toEqual(abort(0x10002))
    const [encoded] = bed.results(name('serialize'), [bls('Gt'), bls('FormatGt')], gt!) as [ByteVector]
    expect(encoded.length).toBe(576)
    const [isThere, again] = bed.results(name('deserialize'), [bls('Gt'), bls('FormatGt')], ref(encoded))
    expect([isThere, ...bed.results(name('eq'), [bls('Gt')], again!, gt!)]).toEqual([true, true])
    expect(bed.results(name('deserialize'), [bls('G1'), bls('FormatG1Compr')], ref(bytes(1)))).toEqual([false, 0])
    expect(bed.results(name('downcast'), [bls('Fq12'), bls('Gt')], gt!)).toEqual([true, gt])
    expect(hex(bed.results(name('order'), [bls('Fr')])[0])).toBe(
      '01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73',
    )
    expect((bed.results(name('order'), [bls('Fq12')])[0] as ByteVector).length).toBe(572)
    expect(bed.results(name('inv'), [bls('Fr')], bed.results(name('zero'), [bls('Fr')])[0]!)).toEqual([false, 0])
    // Combinations that do not exist, and curves that are switched off.
    expect(bed.call(name('add'), ['u8'], 0, 0)).toEqual(abort(0xc0001))
    expect(bed.call(name('mul'), [bls('G1')], g1!, g1!)).toEqual(abort(0xc0001))
    expect(bed.call(name('scalar_mul'), [bls('G1'), '0x1::bn254_algebra::Fr'], g1!, two!)).toEqual(abort(0xc0001))
    expect(new NativeBed(state, { isInPieces, flags: { 13: false } }).call(name('one'), [bls('G1')])).toEqual(
      abort(0xc0001),
    )
    // A handle of another structure.
    expect(bed.call(name('add'), [bls('G2')], g1!, g1!)).toMatchObject({ status: 2000 })
    const fresh = new NativeBed(state, { isInPieces })
    const most = Math.floor((1 << 20) / 576)
    for (let made = 0; made < most; made++) fresh.results(name('zero'), [bls('Fq12')])
    expect(fresh.call(name('zero'), [bls('Fq12')])).toEqual(abort(0x90003))
  })

  it('encode points for long tasks in slices', () => {
    const count = 40
    const turnsOf = (step: () => void) => {
      const before = bed.turns
      step()
      return bed.turns - before
    }
    const list = (one: Value) => new VectorValue(new Array<Value>(count).fill(one))
    const ristretto = (one: string) => `0x1::ristretto255::${one}`
    const scalar = (value: number) => new ByteVector(Uint8Array.from({ length: 32 }, (_, at) => (at === 0 ? value : 0)))
    const [base] = bed.results(ristretto('basepoint_mul_internal'), [], scalar(1))
    const [product] = bed.results(ristretto('basepoint_mul_internal'), [], scalar(3 * count))
    const points = ref(list(new StructValue(0, [base!])))
    const scalars = ref(list(new StructValue(0, [scalar(3)])))
    const ristrettoTurns = turnsOf(() => {
      const [sum] = bed.results(ristretto('multi_scalar_mul_internal'), ['u8', 'u8'], points, scalars)
      const point = (handle: Value | undefined) => ref(new StructValue(0, [handle!]))
      expect(bed.results(ristretto('point_equals'), [], point(sum), point(product))).toEqual([true])
    })
    const algebra = (one: string) => `0x1::crypto_algebra::${one}_internal`
    const [g1, fr] = ['0x1::bls12381_algebra::G1', '0x1::bls12381_algebra::Fr'] as const
    const [one] = bed.results(algebra('one'), [g1])
    const [three] = bed.results(algebra('from_u64'), [fr], 3)
    const [factor] = bed.results(algebra('from_u64'), [fr], 3 * count)
    const [expected] = bed.results(algebra('scalar_mul'), [g1, fr], one!, factor!)
    const algebraTurns = turnsOf(() => {
      const [sum] = bed.results(algebra('multi_scalar_mul'), [g1, fr], list(one!), list(three!))
      expect(bed.results(algebra('eq'), [g1], sum!, expected!)).toEqual([true])
    })
    for (const turns of [ristrettoTurns, algebraTurns]) {
      if (isInPieces) expect(turns).toBeGreaterThanOrEqual(count / ENCODED_AT_ONCE.points - 1)
      else expect(turns).toBe(0)
    }
  })

  it('report by name those that are not built', () => {
    const name = '0x1::state_storage::get_state_storage_usage_only_at_epoch_beginning'
    expect(bed.call(name, [])).toMatchObject({ status: 2006, message: expect.stringContaining(name) })
  })
})
