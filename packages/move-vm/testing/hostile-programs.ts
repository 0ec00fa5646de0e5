import { ByteWriter, parseAddress } from '@ledger-state/core'
import {
  type AssembledFunction,
  type AssembledStruct,
  type Assembly,
  type AssemblyLine,
  assembleModule,
  type SignatureToken,
} from '@ledger-state/move-module'
import type { Random } from '@ledger-state/testing/random'
import { parseStructTag, resourceGroupKey, resourceKey } from '@ledger-state/type-tag'

// Modules that a verifier accepts, and that make as many types, code and values as possible for their charges.

/** Modules at `0x42` and `0x1`, and the view `m::f` of the first. */
export interface HostileProgram {
  readonly kind: string
  readonly modules: readonly Assembly[]
  /** Other values of the state, by their keys. */
  readonly values?: readonly (readonly [key: Uint8Array, value: Uint8Array])[]
  /** Arguments of the view. */
  readonly args?: readonly Uint8Array[]
}

type Token = SignatureToken
type Line = AssemblyLine

const ONE = parseAddress('0x1')
const OWN = parseAddress('0x42')
const U8: Token = { kind: 'u8' }
const U64: Token = { kind: 'u64' }
const BOOL: Token = { kind: 'bool' }
const PLAIN: readonly Token[] = (['u8', 'u16', 'u32', 'u64', 'u128', 'u256', 'bool', 'address'] as const).map(
  (kind) => ({ kind }),
)
const T: Token = { kind: 'typeParameter', index: 0 }

const vector = (element: Token): Token => ({ kind: 'vector', element })
const reference = (to: Token): Token => ({ kind: 'reference', mutable: false, to })
const closure = (parameters: readonly Token[], results: readonly Token[], abilities = 7): Token => ({
  kind: 'function',
  parameters,
  results,
  abilities,
})
const structAt =
  (address: Uint8Array, module: string) =>
  (name: string, ...typeArguments: Token[]): Token => ({
    kind: 'struct',
    module: { address, name: module },
    name,
    typeArguments,
  })
const own = structAt(OWN, 'm')
const STRING = structAt(ONE, 'string')('String')
const BYTES = vector(U8)

/** Ways to make a type of a type, each another one. */
function wrappers(
  random: Random,
  count: number,
  nameLength: number,
): { structs: AssembledStruct[]; wrap: ((type: Token) => Token)[] } {
  const names = Array.from({ length: count }, (_, at) => `W${at}`.padEnd(nameLength, 'x'))
  const structs = names.map((name) => ({
    name,
    typeParameters: [0],
    fields: [['x', random.below(2) === 0 ? U64 : T]] as [string, Token][],
  }))
  const wrap = [...names.map((name) => (type: Token) => own(name, type)), vector, (type: Token) => closure([type], [])]
  return { structs, wrap: wrap.slice(random.below(2), count + 1 + random.below(2)) }
}

const done: Line[] = [['ld_u64', 1], ['ret']]
const view = (code: readonly Line[], locals: readonly Token[] = []): AssembledFunction => ({
  name: 'f',
  results: [U64],
  locals: [...locals],
  code: [...code],
})
const nameLengthOf = (random: Random) => random.pick([2, 2, 40, 255, 3_000])

/** A tree of generic structs: `A0<T>` has fields of `A1` with types made of `T`, and so on. */
function structTree(random: Random): { structs: AssembledStruct[]; root: Token } {
  const levels = 2 + random.below(18)
  const { structs, wrap } = wrappers(random, 1 + random.below(4), nameLengthOf(random))
  const branch = 1 + random.below(wrap.length)
  const tree = Array.from({ length: levels }, (_, level) => {
    const isLast = level === levels - 1
    const fields = isLast
      ? [['x', random.pick([U64, T])]]
      : Array.from({ length: branch }, (_, at) => [`f${at}`, own(`A${level + 1}`, wrap[at]!(T))])
    return { name: `A${level}`, typeParameters: [0], abilities: 15, fields: fields as [string, Token][] }
  })
  const root = own('A0', random.pick(PLAIN))
  const holder =
    random.below(2) === 0
      ? { name: 'H', fields: [['v', vector(root)]] as [string, Token][] }
      : {
          name: 'H',
          variants: [
            { name: 'N', fields: [] },
            { name: 'Y', fields: [['a', root]] as [string, Token][] },
          ],
        }
  return { structs: [...structs, ...tree, holder], root }
}

function treeProgram(random: Random): HostileProgram {
  const { structs, root } = structTree(random)
  const use: Line[] = [['vec_pack', random.pick([root, own('H'), vector(root)]), 0], ['pop']]
  return { kind: 'tree', modules: [{ name: 'm', structs, functions: [view([...use, ...done])] }] }
}

/** Functions `g0<T>`. Each calls the next with several types made of `T`. */
function chainProgram(random: Random): HostileProgram {
  const levels = 2 + random.below(18)
  const { structs, wrap } = wrappers(random, 1 + random.below(4), nameLengthOf(random))
  const callee = (at: number, type: Token) => ({
    name: `g${at}`,
    parameters: [],
    results: [],
    typeParameters: [0],
    typeArguments: [type],
  })
  const isClosure = random.below(4) === 0
  const call = (at: number, type: Token): Line[] =>
    isClosure && random.below(2) === 0
      ? [
          ['pack_closure_generic', callee(at, type), 0],
          ['call_closure', closure([], [], 0)],
        ]
      : [['call_generic', callee(at, type)]]
  const functions = Array.from({ length: levels }, (_, at): AssembledFunction => {
    const types = at === levels - 1 ? [] : wrap.map((one) => one(T))
    return {
      name: `g${at}`,
      typeParameters: [0],
      isView: false,
      code: [...types.flatMap((type) => call(at + 1, type)), ['ret']],
    }
  })
  const first: Line = ['call_generic', callee(0, random.pick(PLAIN))]
  return { kind: 'chain', modules: [{ name: 'm', structs, functions: [view([first, ...done]), ...functions] }] }
}

/** Calls of a function with wide types of its type arguments as results, each with other type arguments. */
function signatureProgram(random: Random): HostileProgram {
  const parts = 1 + random.below(110)
  const wide = (salt: number): Token =>
    structAt(parseAddress('0x43'), 'other')(
      'W',
      ...Array.from({ length: parts }, (_, at) =>
        closure(
          [PLAIN[at % 8]!, PLAIN[(at >> 3) % 8]!].slice(0, 1 + (at % 2)),
          [T, { kind: 'typeParameter', index: 1 }],
          // Values that are popped have the ability drop.
          ((at + salt) & 7) | 2,
        ),
      ),
    )
  const results = Array.from({ length: 1 + random.below(12) }, (_, at) => wide(at))
  const code: Line[] = []
  for (let at = random.below(3_000); at >= 0; at--) {
    const [a, b, c, d] = [PLAIN[at & 7]!, PLAIN[(at >> 3) & 7]!, PLAIN[(at >> 6) & 7]!, PLAIN[(at >> 9) & 7]!]
    const callee = {
      module: { address: parseAddress('0x43'), name: 'other' },
      name: 'g',
      parameters: [],
      results,
      typeParameters: [0, 0],
      typeArguments: [closure([a, b], [c]), d],
    }
    code.push(['call_generic', callee], ...results.map((): Line => ['pop']))
  }
  return { kind: 'signature', modules: [{ name: 'm', functions: [view([...code, ...done])] }] }
}

/** Structs that the modules of natives define themselves. */
const OWN_STRUCTS: Readonly<Record<string, readonly AssembledStruct[]>> = {
  cmp: [
    {
      name: 'Ordering',
      abilities: 3,
      variants: ['Less', 'Equal', 'Greater'].map((name) => ({ name, fields: [] })),
    },
  ],
  reflect: [{ name: 'ReflectionError', abilities: 3, fields: [['x', U64]] }],
}

/** A native of the framework as a module declares it, and a call of it. */
function native(module: string, name: string, parameters: Token[], results: Token[], typeParameters: number[] = []) {
  const signature = { name, parameters, results, typeParameters }
  const assembly: Assembly = {
    name: module,
    address: '0x1',
    structs: OWN_STRUCTS[module] ?? [],
    functions: [{ ...signature, isNative: true, visibility: 'public', isView: false }],
  }
  return { assembly, call: { ...signature, module: { address: ONE, name: module } } }
}

const FRAMEWORK: readonly Assembly[] = [
  {
    name: 'option',
    address: '0x1',
    structs: [{ name: 'Option', typeParameters: [0], fields: [['vec', vector(T)]] }],
    functions: [],
  },
  {
    name: 'result',
    address: '0x1',
    structs: [{ name: 'Result', typeParameters: [0, 0], fields: [['x', U64]] }],
    functions: [],
  },
  {
    name: 'string',
    address: '0x1',
    structs: [{ name: 'String', fields: [['bytes', BYTES]] }],
    functions: [
      {
        name: 'of',
        parameters: [BYTES],
        results: [STRING],
        visibility: 'public',
        isView: false,
        code: [['move_loc', 0], ['pack', 'String'], ['ret']],
      },
    ],
  },
]

/** Natives over the types of a tree. */
function typeNativeProgram(random: Random): HostileProgram {
  const { structs, root } = structTree(random)
  const option = structAt(ONE, 'option')('Option', U64)
  const one = random.pick([
    { ...native('bcs', 'constant_serialized_size', [], [option], [0]), given: [] as Line[] },
    { ...native('from_bcs', 'from_bytes', [BYTES], [T], [0]), given: [['vec_pack', U8, 0]] as Line[] },
    { ...native('type_info', 'type_name', [], [STRING], [0]), given: [] as Line[] },
  ])
  const isResultRoot = one.call.results[0] === T
  const call: Line[] = [...one.given, ['call_generic', { ...one.call, typeArguments: [root] }], ['pop']]
  const code = isResultRoot ? call : loop(call, 1 + random.below(1_000))
  return {
    kind: `native ${one.call.name}`,
    modules: [{ name: 'm', structs, functions: [view([...code, ...done], [U64])] }, one.assembly, ...FRAMEWORK],
  }
}

/** Runs lines a number of times; local 0 counts. */
function loop(body: readonly Line[], times: number): Line[] {
  return [
    ['ld_u64', 0],
    ['st_loc', 0],
    { label: 'top' },
    ...body,
    ['copy_loc', 0],
    ['ld_u64', 1],
    ['add'],
    ['st_loc', 0],
    ['copy_loc', 0],
    ['ld_u64', times],
    ['lt'],
    ['br_true', 'top'],
  ]
}

/** Looks a function with a wide signature up by its name, again and again. */
function lookUpProgram(random: Random): HostileProgram {
  const longName = 'L'.padEnd(nameLengthOf(random), 'x')
  const long = own(longName)
  const arities = Array.from({ length: 1 + random.below(128) }, () => random.below(120))
  const parameters = arities.map((arity, at) => own(`G${at}`, ...Array.from({ length: arity }, () => long)))
  const structs = [{ name: longName, arity: 0 }, ...arities.map((arity, at) => ({ name: `G${at}`, arity }))].map(
    ({ name, arity }): AssembledStruct => ({
      name,
      abilities: 3,
      typeParameters: new Array<number>(arity).fill(0),
      fields: [['x', U64]],
    }),
  )
  const text = (value: string): Line[] => [
    ['ld_const', { constant: new ByteWriter().string(value).toBytes(), type: BYTES }],
    ['call', { module: { address: ONE, name: 'string' }, name: 'of', parameters: [BYTES], results: [STRING] }],
  ]
  const { assembly, call } = native(
    'reflect',
    'native_resolve',
    [{ kind: 'address' }, reference(STRING), reference(STRING)],
    [structAt(ONE, 'result')('Result', T, structAt(ONE, 'reflect')('ReflectionError'))],
    [0],
  )
  const body: Line[] = [
    ['ld_const', { constant: OWN, type: { kind: 'address' } }],
    ['imm_borrow_loc', 1],
    ['imm_borrow_loc', 2],
    ['call_generic', { ...call, typeArguments: [closure([], [U64])] }],
    ['pop'],
  ]
  const code = [
    ...text('m'),
    ['st_loc', 1],
    ...text('g'),
    ['st_loc', 2],
    ...loop(body, 1 + random.below(100_000)),
    ...done,
  ] as Line[]
  const target: AssembledFunction = {
    name: 'g',
    parameters,
    results: [U64],
    visibility: 'public',
    isView: false,
    code: done,
  }
  return {
    kind: 'lookup',
    modules: [{ name: 'm', structs, functions: [view(code, [U64, STRING, STRING]), target] }, assembly, ...FRAMEWORK],
  }
}

/** A value that a program makes again and again, of a type. */
interface HeldItem {
  readonly name: string
  readonly type: Token
  readonly make: readonly Line[]
  /** Modules that the lines need. */
  readonly modules?: readonly Assembly[]
}

const LONGS = vector(U64)
const U256: Token = { kind: 'u256' }
const ADDRESS: Token = { kind: 'address' }
/** Locals of a program of held items that are used while an item is made. */
const SCRATCH = { longs: 3, bytes: 4 } as const

/** An item that a native decodes of the bytes of a list of `count` elements. */
function decodedItem(name: string, element: Token, count: number, elementBytes: readonly number[]): HeldItem {
  const type = vector(element)
  const list = new ByteWriter().uleb128(count)
  for (let at = 0; at < count; at++) list.bytes(Uint8Array.from(elementBytes))
  const { assembly, call } = native('from_bcs', 'from_bytes', [BYTES], [T], [0])
  const make: Line[] = [
    ['ld_const', { constant: new ByteWriter().byteString(list.toBytes()).toBytes(), type: BYTES }],
    ['call_generic', { ...call, typeArguments: [type] }],
  ]
  return { name: `decoded ${name}`, type, make, modules: [assembly] }
}

/** @param empty number of vectors in the constant that has many */
function heldItems(empty: number): readonly HeldItem[] {
  const constant = new Uint8Array(empty + 1)
  constant[0] = empty
  const grown = (scratch: number, element: Token, one: Line): Line[] => [
    ['vec_pack', element, 0],
    ['st_loc', scratch],
    ['mut_borrow_loc', scratch],
    one,
    ['vec_push_back', element],
    ['move_loc', scratch],
  ]
  return [
    { name: 'bytes', type: BYTES, make: [['vec_pack', U8, 0]] },
    { name: 'bytes that grew', type: BYTES, make: grown(SCRATCH.bytes, U8, ['ld_u8', 1]) },
    { name: 'vectors', type: LONGS, make: [['vec_pack', U64, 0]] },
    {
      name: 'vectors of one',
      type: LONGS,
      make: [
        ['ld_u64', 7],
        ['vec_pack', U64, 1],
      ],
    },
    { name: 'vectors that grew', type: LONGS, make: grown(SCRATCH.longs, U64, ['ld_u64', 1]) },
    {
      name: 'structs',
      type: own('S'),
      make: [
        ['vec_pack', U8, 0],
        ['pack', 'S'],
      ],
    },
    {
      name: 'variants',
      type: own('E'),
      make: [
        ['vec_pack', U64, 0],
        ['pack_variant', 'E::Y'],
      ],
    },
    {
      name: 'closures',
      // A private function cannot be stored, so its closures have the abilities copy and drop.
      type: closure([], [U64], 3),
      make: [
        ['ld_u64', 3],
        ['pack_closure', { name: 'c', parameters: [U64], results: [U64] }, 1],
      ],
    },
    {
      name: 'wide integers',
      type: U256,
      make: [['ld_const', { constant: new Uint8Array(32).fill(0xfe), type: U256 }], ['ld_u8', 1], ['shr']],
    },
    { name: 'constants', type: vector(BYTES), make: [['ld_const', { constant, type: vector(BYTES) }]] },
    decodedItem('addresses', ADDRESS, 100, new Array<number>(32).fill(7)),
    decodedItem('wide integers', U64, 100, new Array<number>(8).fill(0xf7)),
    decodedItem('vectors of one', vector(BOOL), 100, [1, 1]),
    decodedItem('many', BOOL, 300, [1]),
  ]
}

/** Holds a list that grows by an item, or copies of a list with `unrolled` items. */
function heldItemProgram(
  { name, type, make, modules = [] }: HeldItem,
  unrolled: number,
  isOfCopies: boolean,
): HostileProgram {
  const list = vector(type)
  const push: Line[] = [['mut_borrow_loc', 1], ...make, ['vec_push_back', type]]
  const pushes = Array.from({ length: unrolled }, () => push).flat()
  const grow: Line[] = [
    ['vec_pack', type, 0],
    ['st_loc', 1],
  ]
  const copies: Line[] = [
    ['vec_pack', list, 0],
    ['st_loc', 2],
    ...pushes,
    { label: 'copies' },
    ['mut_borrow_loc', 2],
    ['copy_loc', 1],
    ['vec_push_back', list],
    ['branch', 'copies'],
  ]
  const forever: Line[] = [{ label: 'pushes' }, ...pushes, ['branch', 'pushes']]
  return {
    kind: `${isOfCopies ? 'copies of ' : ''}${name}`,
    modules: [
      {
        name: 'm',
        structs: [
          { name: 'S', fields: [['b', BYTES]] },
          {
            name: 'E',
            variants: [
              { name: 'N', fields: [] },
              { name: 'Y', fields: [['v', LONGS]] },
            ],
          },
        ],
        functions: [
          view([...grow, ...(isOfCopies ? copies : forever)], [U64, list, vector(list), LONGS, BYTES]),
          { name: 'c', parameters: [U64], results: [U64], isView: false, code: [['move_loc', 0], ['ret']] },
        ],
      },
      ...modules,
    ],
  }
}

/** Adds to an aggregator at each of `count` squared places. */
function aggregatorProgram(count: number): HostileProgram {
  const type = structAt(ONE, 'aggregator')('Aggregator')
  const add = native('aggregator', 'add', [{ kind: 'reference', mutable: true, to: type }, { kind: 'u128' }], [])
  const places = new ByteWriter().uleb128(count)
  for (let at = 0; at < count; at++) places.bytes(new Uint8Array(30)).bytes(Uint8Array.of(at >> 8, at & 255))
  const place = (at: number): Line[] => [
    ['imm_borrow_loc', 2],
    ['copy_loc', at],
    ['vec_imm_borrow', ADDRESS],
    ['read_ref'],
  ]
  const one: Line[] = [
    ...place(0),
    ...place(1),
    [
      'call',
      { module: { address: ONE, name: 'aggregator' }, name: 'of', parameters: [ADDRESS, ADDRESS], results: [type] },
    ],
    ['st_loc', 3],
    ['mut_borrow_loc', 3],
    ['ld_u128', 1],
    ['call', add.call],
  ]
  const next = (local: number, label: string): Line[] => [
    ['copy_loc', local],
    ['ld_u64', 1],
    ['add'],
    ['st_loc', local],
    ['copy_loc', local],
    ['ld_u64', count],
    ['lt'],
    ['br_true', label],
  ]
  const code: Line[] = [
    ['ld_const', { constant: places.toBytes(), type: vector(ADDRESS) }],
    ['st_loc', 2],
    ['ld_u64', 0],
    ['st_loc', 0],
    { label: 'outer' },
    ['ld_u64', 0],
    ['st_loc', 1],
    { label: 'inner' },
    ...one,
    ...next(1, 'inner'),
    ...next(0, 'outer'),
    ...done,
  ]
  const of: AssembledFunction = {
    name: 'of',
    parameters: [ADDRESS, ADDRESS],
    results: [type],
    visibility: 'public',
    isView: false,
    code: [['move_loc', 0], ['move_loc', 1], ['ld_u128', 1_000], ['pack', 'Aggregator'], ['ret']],
  }
  const fields: [string, Token][] = [
    ['handle', ADDRESS],
    ['key', ADDRESS],
    ['limit', { kind: 'u128' }],
  ]
  const framework: Assembly = {
    ...add.assembly,
    structs: [{ name: 'Aggregator', fields }],
    functions: [...add.assembly.functions, of],
  }
  return {
    kind: 'aggregators',
    modules: [{ name: 'm', functions: [view(code, [U64, U64, vector(ADDRESS), type])] }, framework],
  }
}

/** Looks at a field that is `depth` structs deep in each of `count` resources. */
function storedStructsProgram(depth: number, count: number): HostileProgram {
  const levels = Array.from({ length: depth }, (_, level) => `D${level}`)
  const structs = levels.map((name, level): AssembledStruct => {
    const inner = levels[level + 1]
    return { name, fields: [['x', inner === undefined ? U64 : own(inner)]] }
  })
  const owners = Array.from({ length: count }, (_, at) => {
    const owner = new Uint8Array(32)
    new DataView(owner.buffer).setUint32(0, at)
    return owner
  })
  const list = new ByteWriter().uleb128(count)
  for (const owner of owners) list.bytes(owner)
  const code: Line[] = [
    ['ld_const', { constant: list.toBytes(), type: vector(ADDRESS) }],
    ['st_loc', 1],
    ...loop(
      [
        ['imm_borrow_loc', 1],
        ['copy_loc', 0],
        ['vec_imm_borrow', ADDRESS],
        ['read_ref'],
        ['imm_borrow_global', 'D0'],
        ...levels.map((name): Line => ['imm_borrow_field', `${name}.x`]),
        ['read_ref'],
        ['pop'],
      ],
      count,
    ),
    ...done,
  ]
  const tag = parseStructTag('0x42::m::D0')
  return {
    kind: 'stored structs',
    modules: [{ name: 'm', structs, functions: [view(code, [U64, vector(ADDRESS)])] }],
    values: owners.map((owner) => [resourceKey(owner, tag), new Uint8Array(8)]),
  }
}

/** Programs that hold values of all kinds until their budget ends. */
export function holdingPrograms(): readonly HostileProgram[] {
  const ofItems = heldItems(64).flatMap((item) =>
    [false, true].map((isOfCopies) => heldItemProgram(item, 50, isOfCopies)),
  )
  return [...ofItems, aggregatorProgram(300), storedStructsProgram(60, 1_900)]
}

function randomHoldingProgram(random: Random): HostileProgram {
  if (random.below(10) === 0) return aggregatorProgram(1 + random.below(700))
  const item = random.pick(heldItems(random.below(128)))
  return heldItemProgram(item, 1 + random.below(400), random.below(2) === 0)
}

/** Many functions of much code, each called once. */
function codeProgram(random: Random): HostileProgram {
  const count = 1 + random.below(200)
  const length = 1 + random.below(60)
  const constant = random.bytes(random.below(200))
  const bytes = new ByteWriter().byteString(constant).toBytes()
  const functions = Array.from(
    { length: count },
    (_, at): AssembledFunction => ({
      name: `g${at}`,
      isView: false,
      code: [
        ...Array.from({ length }, (): Line[] =>
          random.pick<Line[]>([
            [['ld_const', { constant: bytes, type: BYTES }], ['pop']],
            [['vec_pack', random.pick(PLAIN), 0], ['pop']],
            [['ld_u64', random.below(1_000)], ['ld_u64', 1], ['add'], ['pop']],
          ]),
        ).flat(),
        ['ret'],
      ],
    }),
  )
  const calls = functions.map(({ name }): Line => ['call', { name, parameters: [], results: [] }])
  return { kind: 'code', modules: [{ name: 'm', functions: [view([...calls, ...done]), ...functions] }] }
}

const GROUP = '0x42::m::G'
/** A write of a ledger has at most 1 MiB; this leaves room for other ledgers. */
const MOST_GROUP_BYTES = 4 * 2 ** 20
const LEAST_MEMBER_BYTES = 40

/** A view that looks for a member of a group which has `count` members with tags of some bytes. */
function groupProgram(count: number, tagBytes: number, isWhole: boolean): HostileProgram {
  const writer = new ByteWriter().uleb128(count)
  for (let at = 0; at < count; at++) {
    const address = new Uint8Array(32)
    new DataView(address.buffer).setUint32(0, at)
    // Names of one letter, and type arguments, each of one byte.
    writer.bytes(address).string('a').string('b').uleb128(tagBytes).bytes(new Uint8Array(tagBytes).fill(2))
    writer.byteString(new Uint8Array(at % 3))
  }
  const bytes = writer.toBytes()
  return {
    kind: 'group',
    modules: [
      {
        name: 'm',
        structs: [{ name: 'R', group: GROUP, fields: [['x', U64]] }],
        functions: [
          view([['ld_const', { constant: ONE, type: { kind: 'address' } }], ['exists', 'R'], ['pop'], ...done]),
        ],
      },
    ],
    values: [[resourceGroupKey(ONE, parseStructTag(GROUP)), isWhole ? bytes : bytes.subarray(0, -1)]],
  }
}

/** A vector of `levels` levels of vectors, and its BCS with `count` elements of zero bytes. */
function zeros(element: Token, levels: number, bytes: number, count: number): { type: Token; value: Uint8Array } {
  let type = element
  for (let level = 0; level < levels; level++) type = vector(type)
  const size = levels > 1 ? 1 : bytes
  return {
    type,
    value: new ByteWriter()
      .uleb128(count)
      .bytes(new Uint8Array(size * count))
      .toBytes(),
  }
}

function argumentProgram(...given: Parameters<typeof zeros>): HostileProgram {
  const { type, value } = zeros(...given)
  const modules = [{ name: 'm', functions: [{ ...view(done), parameters: [type] }] }]
  return { kind: 'argument', modules, args: [value] }
}

function constantProgram(...given: Parameters<typeof zeros>): HostileProgram {
  const { type, value } = zeros(...given)
  const code: Line[] = [['ld_const', { type, constant: value }], ['pop'], ...done]
  return { kind: 'constant', modules: [{ name: 'm', functions: [view(code)] }] }
}

/** A local of a type that has up to `parts` parts, all different. */
function wideTypeProgram(parts: number): HostileProgram {
  let left = parts
  const wide = (level: number): Token => {
    const inner: Token[] = []
    for (let at = 0; at < 150 && left > 0; at++) {
      left--
      inner.push(level > 0 ? wide(level - 1) : { kind: 'typeParameter', index: left })
    }
    return closure(inner, [])
  }
  const type = wide(2)
  return { kind: 'wide type', modules: [{ name: 'm', functions: [view(done, [type])] }] }
}

/** A vector of structs, in `fields.length` levels, each with a number of fields with types of `parts` parts. */
function wideStructProgram(fields: readonly number[], parts: number): HostileProgram {
  const wide = (salt: number) =>
    own('W', ...Array.from({ length: parts }, (_, at) => PLAIN[(at + salt) % PLAIN.length]!))
  const structs = [
    { name: 'W', typeParameters: Array.from({ length: parts }, () => 0), fields: [['x', U64]] as [string, Token][] },
    ...fields.map((count, level) => ({
      name: `S${level}`,
      fields: Array.from({ length: count }, (_, at): [string, Token] => [
        `f${at}`,
        at === 0 && level + 1 < fields.length ? vector(own(`S${level + 1}`)) : vector(wide(at % 3)),
      ]),
    })),
  ]
  return {
    kind: 'wide struct',
    modules: [{ name: 'm', structs, functions: [view([['vec_pack', own('S0'), 0], ['pop'], ...done])] }],
  }
}

/** Programs that read large values, whole and in one instruction or before the first. */
export function largeReadPrograms(): readonly HostileProgram[] {
  return [
    groupProgram(6_000, 0, true),
    argumentProgram(BOOL, 1, 1, 20_000),
    argumentProgram(U8, 2, 1, 10_000),
    argumentProgram(U64, 2, 1, 10_000),
    constantProgram(BOOL, 1, 1, 30_000),
    constantProgram(U8, 2, 1, 10_000),
    constantProgram(U64, 3, 1, 10_000),
    wideStructProgram([40, 20, 40], 90),
  ]
}

function randomReadProgram(random: Random): HostileProgram {
  const element = random.pick([
    [BOOL, 1],
    [U8, 1],
    [U64, 8],
    [{ kind: 'address' } as Token, 32],
  ] as const)
  const levels = 1 + random.below(3)
  switch (random.below(5)) {
    case 0: {
      const tagBytes = random.pick([0, 3, 100, 20_000, 1_000_000])
      const most = Math.ceil(MOST_GROUP_BYTES / (tagBytes + LEAST_MEMBER_BYTES))
      return groupProgram(1 + random.below(most), tagBytes, random.below(8) > 0)
    }
    case 1:
      return argumentProgram(element[0], levels, element[1], random.below(200_000))
    case 2:
      return constantProgram(element[0], levels, element[1], random.below(65_000 / element[1]))
    case 3:
      return wideStructProgram(
        Array.from({ length: levels }, () => 1 + random.below(250)),
        1 + random.below(100),
      )
    default:
      return wideTypeProgram(random.below(30_000))
  }
}

/** A native over large values, and the lines that give it references to lists 1 and 2, or bytes of list 1. */
interface LargeNative {
  readonly module: string
  readonly name: string
  readonly parameters: Token[]
  readonly results: Token[]
  readonly typeArguments: readonly Token[]
  readonly given: readonly Line[]
}

const LIST = vector(vector(U64))
const LISTS = vector(LIST)
const lists: readonly Line[] = [
  ['imm_borrow_loc', 1],
  ['imm_borrow_loc', 2],
]
const bytes: readonly Line[] = [['copy_loc', 3]]
const mutable = (to: Token): Token => ({ kind: 'reference', mutable: true, to })
/** A reference to the first vector of a list. */
const longest = (list: number): readonly Line[] => [
  ['mut_borrow_loc', list],
  ['ld_u64', 0],
  ['vec_mut_borrow', LIST],
]
const styles: readonly Line[] = [['ld_true'], ['ld_true'], ['ld_false'], ['ld_true']]
const ofBytes = (module: string, name: string, result: Token = BYTES): LargeNative => ({
  module,
  name,
  parameters: [BYTES],
  results: [result],
  typeArguments: [],
  given: bytes,
})

const LARGE_NATIVES: readonly LargeNative[] = [
  ...['to_bytes', 'serialized_size'].map((name) => ({
    module: 'bcs',
    name,
    parameters: [reference(T)],
    results: [name === 'to_bytes' ? BYTES : U64],
    typeArguments: [LISTS],
    given: lists.slice(1),
  })),
  { module: 'from_bcs', name: 'from_bytes', parameters: [BYTES], results: [T], typeArguments: [LISTS], given: bytes },
  {
    module: 'cmp',
    name: 'compare',
    parameters: [reference(T), reference(T)],
    results: [structAt(ONE, 'cmp')('Ordering')],
    typeArguments: [LISTS],
    given: lists,
  },
  {
    module: 'string_utils',
    name: 'native_format',
    parameters: [reference(T), BOOL, BOOL, BOOL, BOOL],
    results: [STRING],
    typeArguments: [LISTS],
    given: [...lists.slice(1), ...styles],
  },
  ...['sha2_256', 'sha3_256'].map((name) => ofBytes('hash', name)),
  ...['keccak256', 'sha2_512_internal', 'sha3_512_internal', 'ripemd160_internal', 'blake2b_256_internal'].map((name) =>
    ofBytes('aptos_hash', name),
  ),
  ofBytes('aptos_hash', 'sip_hash', U64),
  {
    module: 'string',
    name: 'internal_index_of',
    parameters: [reference(BYTES), reference(BYTES)],
    results: [U64],
    typeArguments: [],
    given: [
      ['imm_borrow_loc', 3],
      ['imm_borrow_loc', 4],
    ],
  },
  {
    module: 'string',
    name: 'internal_sub_string',
    parameters: [reference(BYTES), U64, U64],
    results: [BYTES],
    typeArguments: [],
    given: [
      ['imm_borrow_loc', 3],
      ['ld_u64', 1],
      ['imm_borrow_loc', 3],
      ['vec_len', U8],
    ],
  },
  {
    module: 'vector',
    name: 'move_range',
    parameters: [mutable(vector(T)), U64, U64, mutable(vector(T)), U64],
    results: [],
    typeArguments: [vector(U64)],
    given: [
      ...longest(1),
      ['vec_len', vector(U64)],
      ['ld_u64', 1],
      ['sub'],
      ['st_loc', 0],
      ...longest(1),
      ['ld_u64', 1],
      ['move_loc', 0],
      ...longest(2),
      ['ld_u64', 1],
    ],
  },
  {
    module: 'string',
    name: 'internal_check_utf8',
    parameters: [reference(BYTES)],
    results: [BOOL],
    typeArguments: [],
    given: [['imm_borrow_loc', 3]],
  },
]

/** Calls natives with vectors of `copies` vectors of `items` vectors. */
function largeValueProgram(
  { module, name, parameters, results, typeArguments, given }: LargeNative,
  items: number,
  copies: number,
): HostileProgram {
  const constant = new ByteWriter().uleb128(items).toBytes()
  const one: Line = ['ld_const', { constant: Uint8Array.of(...constant, ...new Uint8Array(items)), type: LIST }]
  const fill: Line[] = [
    ...[1, 2].flatMap((list): Line[] => [
      ['vec_pack', LIST, 0],
      ['st_loc', list],
    ]),
    ...loop(
      [1, 2].flatMap((list): Line[] => [['mut_borrow_loc', list], one, ['vec_push_back', LIST]]),
      copies,
    ),
  ]
  const isOfBytes = parameters.some((type) => type === BYTES || (type.kind === 'reference' && type.to === BYTES))
  const toBytes = native('bcs', 'to_bytes', [reference(T)], [BYTES], [0])
  const encode: Line[] = [
    ['imm_borrow_loc', 1],
    ['call_generic', { ...toBytes.call, typeArguments: [LISTS] }],
    ['st_loc', 3],
    ['ld_const', { constant: Uint8Array.of(3, 0, 0, 1), type: BYTES }],
    ['st_loc', 4],
  ]
  const tested = native(
    module,
    name,
    parameters,
    results,
    typeArguments.map(() => 0),
  )
  const call: Line =
    typeArguments.length > 0
      ? ['call_generic', { ...tested.call, typeArguments: [...typeArguments] }]
      : ['call', tested.call]
  const drop = results.map((): Line => ['pop'])
  const code = [...fill, ...(isOfBytes ? encode : []), ...given, call, ...drop, ...done] as Line[]
  const framework = FRAMEWORK.map((one) =>
    one.name === module ? { ...one, functions: [...one.functions, ...tested.assembly.functions] } : one,
  )
  const modules = new Map(
    [
      { name: 'm', functions: [view(code, [U64, LISTS, LISTS, BYTES, BYTES])] } as Assembly,
      ...(isOfBytes ? [toBytes.assembly] : []),
      ...(framework.some((one) => one.name === module) ? [] : [tested.assembly]),
      ...framework,
    ].map((one) => [one.name, one]),
  )
  return { kind: `${module}::${name}`, modules: [...modules.values()] }
}

function randomLargeValueProgram(random: Random): HostileProgram {
  return largeValueProgram(random.pick(LARGE_NATIVES), 1 + random.below(10_000), 1 + random.below(8))
}

/** A program for each native over large values. */
export function largeValuePrograms(items: number, copies: number): readonly HostileProgram[] {
  return LARGE_NATIVES.map((one) => largeValueProgram(one, items, copies))
}

/** Ways to use a list of closures. */
const CLOSURE_USES = ['bcs::serialized_size', 'result', 'eq', 'cmp::compare'] as const
type ClosureUse = (typeof CLOSURE_USES)[number]
const MOST_TYPE_ARGUMENTS = 32
/** Type arguments of a struct of which one and three more have 125 parts; a type has at most 128. */
const BRANCHES = 31

/**
 * Fills a list with `count` closures of a function that has type arguments with many parts and long names, and uses it.
 * A comparison is made `count` times, of two closures whose type arguments differ in their last part.
 */
function closuresProgram(use: ClosureUse, count: number, nameLength: number): HostileProgram {
  const [branch, leaf, other] = ['N', 'L', 'O'].map((name) => name.padEnd(nameLength, 'x')) as [string, string, string]
  const filled = (last: Token, ...first: Token[]) =>
    own(branch, ...first, ...new Array<Token>(BRANCHES - 1 - first.length).fill(own(leaf)), last)
  const large = (last: Token) => filled(filled(last), filled(own(leaf)), filled(own(leaf)))
  const type = closure([U64], [U64])
  const list = vector(type)
  const g: AssembledFunction = {
    name: 'g',
    typeParameters: new Array<number>(MOST_TYPE_ARGUMENTS).fill(0),
    parameters: [U64],
    results: [U64],
    visibility: 'public',
    attributes: [1],
    isView: false,
    code: [['move_loc', 0], ['ret']],
  }
  const pack = (last: string): Line => {
    const first = new Array<Token>(MOST_TYPE_ARGUMENTS - 1).fill(large(own(leaf)))
    return ['pack_closure_generic', { ...g, typeArguments: [...first, large(own(last))] }, 0]
  }
  const fill: Line[] = [
    ['vec_pack', type, 0],
    ['st_loc', 1],
    ...loop([['mut_borrow_loc', 1], pack(leaf), ['vec_push_back', type]], count),
  ]
  const both: Line[] = [pack(leaf), ['st_loc', 2], pack(other), ['st_loc', 3]]
  const compared: Line[] = [
    ['imm_borrow_loc', 2],
    ['imm_borrow_loc', 3],
  ]
  const size = native('bcs', 'serialized_size', [reference(T)], [U64], [0])
  const ordering = structAt(ONE, 'cmp')('Ordering')
  const compare = native('cmp', 'compare', [reference(T), reference(T)], [ordering], [0])
  const code: Readonly<Record<ClosureUse, readonly Line[]>> = {
    'bcs::serialized_size': [
      ...fill,
      ['imm_borrow_loc', 1],
      ['call_generic', { ...size.call, typeArguments: [list] }],
      ['ret'],
    ],
    result: [...fill, ['move_loc', 1], ['ret']],
    eq: [...both, ...loop([...compared, ['eq'], ['pop']], count), ...done],
    'cmp::compare': [
      ...both,
      ...loop([...compared, ['call_generic', { ...compare.call, typeArguments: [type] }], ['pop']], count),
      ...done,
    ],
  }
  const f: AssembledFunction = {
    ...view(code[use], [U64, list, type, type]),
    results: [use === 'result' ? list : U64],
  }
  const structs: AssembledStruct[] = [
    { name: branch, typeParameters: new Array<number>(BRANCHES).fill(0), fields: [['x', U64]] },
    { name: leaf, fields: [['x', U64]] },
    { name: other, fields: [['x', U64]] },
  ]
  return {
    kind: `${use} of closures`,
    modules: [{ name: 'm', structs, functions: [f, g] }, size.assembly, compare.assembly],
  }
}

/** A program for each use of closures. */
export function closuresPrograms(count: number, nameLength: number): readonly HostileProgram[] {
  return CLOSURE_USES.map((use) => closuresProgram(use, count, nameLength))
}

function randomClosuresProgram(random: Random): HostileProgram {
  return closuresProgram(random.pick(CLOSURE_USES), 1 + random.below(10_000), random.pick([2, 40, 255]))
}

/** Emits `count` events below `depth` waiting callers. */
export function eventsProgram(depth: number, count: number): HostileProgram {
  const write = native('event', 'write_module_event_to_store', [T], [], [0])
  const emit: AssembledFunction = {
    name: 'emit',
    parameters: [T],
    typeParameters: write.call.typeParameters,
    visibility: 'public',
    isView: false,
    code: [['move_loc', 0], ['call_generic', { ...write.call, typeArguments: [T] }], ['ret']],
  }
  const event: Line[] = [
    ['ld_u64', 1],
    ['pack', 'S'],
    ['call_generic', { ...emit, module: { address: ONE, name: 'event' }, typeArguments: [own('S')] }],
  ]
  const down: AssembledFunction = {
    name: 'down',
    parameters: [U64],
    isView: false,
    code: [
      ['copy_loc', 0],
      ['ld_u64', 0],
      ['eq'],
      ['br_true', 'bottom'],
      ['move_loc', 0],
      ['ld_u64', 1],
      ['sub'],
      ['call', { name: 'down', parameters: [U64], results: [] }],
      ['ret'],
      { label: 'bottom' },
      ...loop(event, count),
      ['ret'],
    ],
  }
  const f = view([['ld_u64', depth], ['call', { name: 'down', parameters: [U64], results: [] }], ...done])
  const framework: Assembly = { ...write.assembly, functions: [...write.assembly.functions, emit] }
  const structs: AssembledStruct[] = [{ name: 'S', abilities: 7, fields: [['x', U64]] }]
  return { kind: 'events', modules: [{ name: 'm', structs, functions: [f, down] }, framework] }
}

function randomEventsProgram(random: Random): HostileProgram {
  return eventsProgram(random.below(1_000), 1 + random.below(100_000))
}

/** Code of a function without results, for its verification: `length` parts, some of them in blocks of their own. */
type CodeMaker = (length: number, random: Random) => Pick<AssembledFunction, 'parameters' | 'locals' | 'code'>

const CODE_MAKERS: Readonly<Record<string, CodeMaker>> = {
  empty: () => ({ code: [['ret']] }),
  plain: (length) => ({ code: [...Array.from({ length }, (): Line[] => [['ld_u64', 1], ['pop']]).flat(), ['ret']] }),
  // References in many locals, which each block borrows and each join compares.
  borrows: (length, random) => {
    const locals = 1 + random.below(100)
    const blocks = 1 + random.below(Math.min(length, 500))
    return {
      parameters: [vector(U64), ...new Array<Token>(locals).fill(mutable(U64))],
      code: [
        ...Array.from({ length: blocks }, (_, at): Line[] => [
          ['mut_borrow_loc', 0],
          ['ld_u64', 0],
          ['vec_mut_borrow', U64],
          ['st_loc', 1 + (at % locals)],
          ['ld_true'],
          ['br_true', `end${at}`],
          ['copy_loc', 1 + ((7 * at) % locals)],
          ['pop'],
          { label: `end${at}` },
        ]).flat(),
        ['ret'],
      ],
    }
  },
  // Types that no other function has.
  types: (length, random) => {
    const type = (): Token => {
      let made = random.pick(PLAIN)
      for (let depth = random.below(40); depth > 0; depth--) {
        made = random.below(2) === 0 ? vector(made) : closure([made], [random.pick(PLAIN)])
      }
      return made
    }
    const code = Array.from({ length: 1 + random.below(length) }, (): Line[] => [['vec_pack', type(), 0], ['pop']])
    return { code: [...code.flat(), ['ret']] }
  },
  loops: (length) => {
    const levels = Array.from({ length: 5 }, (_, level) => level)
    const body = Array.from({ length }, (): Line[] => [
      ['mut_borrow_loc', 0],
      ['st_loc', 1],
    ])
    return {
      locals: [U64, mutable(U64)],
      code: [
        ['ld_u64', 1],
        ['st_loc', 0],
        ...levels.flatMap((level): Line[] => [{ label: `loop${level}` }, ['nop']]),
        ...body.flat(),
        ...levels.toReversed().flatMap((level): Line[] => [['ld_false'], ['br_true', `loop${level}`]]),
        ['ret'],
      ],
    }
  },
}

/** Modules that call each other, with functions that no code calls: all are verified. */
export function uncalledProgram(
  kind: string,
  modules: number,
  functions: number,
  length: number,
  random: Random,
): HostileProgram {
  const make = CODE_MAKERS[kind]!
  return {
    kind: `uncalled ${kind}`,
    modules: Array.from({ length: modules }, (_, at): Assembly => {
      const next = { module: { address: OWN, name: `m${at + 1}` }, name: 'f', results: [U64] }
      return {
        name: at === 0 ? 'm' : `m${at}`,
        functions: [
          { ...view(at + 1 === modules ? done : [['call', next], ['ret']]), visibility: 'public' },
          ...Array.from({ length: functions }, (_, index): AssembledFunction => {
            return { name: `g${index}`, isView: false, ...make(length, random) }
          }),
        ],
      }
    }),
  }
}

function randomUncalledProgram(random: Random): HostileProgram {
  const kind = random.pick(Object.keys(CODE_MAKERS))
  const length = 1 + random.below(400)
  const functions = random.below(Math.ceil(20_000 / length))
  return uncalledProgram(kind, 1 + random.below(20), functions, length, random)
}

/** Programs as large as a budget allows that do no work beyond their verification. */
export function* uncalledPrograms(random: Random): Iterable<HostileProgram> {
  for (const kind of Object.keys(CODE_MAKERS)) {
    yield uncalledProgram(kind, 30, 1_500, 1, random)
    yield uncalledProgram(kind, 30, 60, 200, random)
    yield uncalledProgram(kind, 10, 6, 6_000, random)
  }
}

const KINDS = [
  randomUncalledProgram,
  randomReadProgram,
  randomLargeValueProgram,
  randomClosuresProgram,
  randomEventsProgram,
  treeProgram,
  chainProgram,
  signatureProgram,
  typeNativeProgram,
  lookUpProgram,
  randomHoldingProgram,
  codeProgram,
]

/** Makes a program that assembles: one that is too large for the format is made again, smaller. */
export function randomHostileProgram(random: Random): HostileProgram {
  for (;;) {
    const program = random.pick(KINDS)(random)
    try {
      for (const module of program.modules) assembleModule(module)
      return program
    } catch {
      // Beyond a limit of the format.
    }
  }
}
