import { AccountAddress, Deserializer, Hex, parseTypeTag as parseAptosTypeTag, Serializer } from '@aptos-labs/ts-sdk'
import { codecOf, type Layout, parseJson } from '@ledger-state/bcs'
import { parseTypeTag, typeTagToText } from '@ledger-state/type-tag'
import { type BcsType, bcs, fromHex, toHex } from '@mysten/bcs'
import type { Role } from '../report/measure.ts'
import type { BenchRun } from '../run/bench-run.ts'
import { measureInRounds } from '../run/rounds.ts'
import type { Suite } from '../run/suite.ts'

const u64: Layout = { kind: 'u64' }
const bool: Layout = { kind: 'bool' }
const text: Layout = { kind: 'string' }
const address: Layout = { kind: 'address' }
const struct = (name: string, fields: Record<string, Layout>): Layout => ({
  kind: 'struct',
  name,
  fields: Object.entries(fields).map(([field, layout]) => ({ name: field, layout })),
})

const ACCOUNT = '0x7c9f6724cfc3ead36713389148bbeb48a310dacd43a767b52ada4be7'
const mystenAddress = bcs.bytes(32).transform({
  input: (value: string) => fromHex(value.slice(2).padStart(64, '0')),
  output: (bytes) => `0x${toHex(bytes)}`,
})

interface Case {
  readonly name: string
  readonly layout: Layout
  readonly value: unknown
  // biome-ignore lint/suspicious/noExplicitAny: each case has its own value type
  readonly mysten: BcsType<any, any>
  readonly aptosDecode: (from: Deserializer) => unknown
  // biome-ignore lint/suspicious/noExplicitAny: as above
  readonly aptosEncode: (value: any, to: Serializer) => void
}

const eventHandle = struct('EventHandle', {
  counter: u64,
  guid: struct('GUID', { id: struct('ID', { creation_num: u64, addr: address }) }),
})
const mystenEventHandle = bcs.struct('EventHandle', {
  counter: bcs.u64(),
  guid: bcs.struct('GUID', { id: bcs.struct('ID', { creation_num: bcs.u64(), addr: mystenAddress }) }),
})
const readAddress = (from: Deserializer) => AccountAddress.deserialize(from).toStringLong()
const readEventHandle = (from: Deserializer) => ({
  counter: String(from.deserializeU64()),
  guid: { id: { creation_num: String(from.deserializeU64()), addr: readAddress(from) } },
})
// biome-ignore lint/suspicious/noExplicitAny: JSON as it was parsed
type Json = any
const writeAddress = (value: string, to: Serializer) =>
  AccountAddress.fromString(value, { maxMissingChars: 63 }).serialize(to)
const writeEventHandle = (value: Json, to: Serializer) => {
  to.serializeU64(BigInt(value.counter))
  to.serializeU64(BigInt(value.guid.id.creation_num))
  writeAddress(value.guid.id.addr, to)
}
const handleValue = (creationNumber: string) => ({
  counter: '17',
  guid: { id: { creation_num: creationNumber, addr: ACCOUNT } },
})

const CASES: readonly Case[] = [
  {
    name: 'CoinStore',
    layout: struct('CoinStore', {
      coin: struct('Coin', { value: u64 }),
      frozen: bool,
      deposit_events: eventHandle,
      withdraw_events: eventHandle,
    }),
    value: {
      coin: { value: '123456789012' },
      frozen: false,
      deposit_events: handleValue('2'),
      withdraw_events: handleValue('3'),
    },
    mysten: bcs.struct('CoinStore', {
      coin: bcs.struct('Coin', { value: bcs.u64() }),
      frozen: bcs.bool(),
      deposit_events: mystenEventHandle,
      withdraw_events: mystenEventHandle,
    }),
    aptosDecode: (from) => ({
      coin: { value: String(from.deserializeU64()) },
      frozen: from.deserializeBool(),
      deposit_events: readEventHandle(from),
      withdraw_events: readEventHandle(from),
    }),
    aptosEncode: (value, to) => {
      to.serializeU64(BigInt(value.coin.value))
      to.serializeBool(value.frozen)
      writeEventHandle(value.deposit_events, to)
      writeEventHandle(value.withdraw_events, to)
    },
  },
  {
    name: 'TokenId',
    layout: struct('TokenId', {
      token_data_id: struct('TokenDataId', { creator: address, collection: text, name: text }),
      property_version: u64,
    }),
    value: {
      token_data_id: { creator: ACCOUNT, collection: 'Aptos Monkeys', name: 'Monkey #4711' },
      property_version: '0',
    },
    mysten: bcs.struct('TokenId', {
      token_data_id: bcs.struct('TokenDataId', {
        creator: mystenAddress,
        collection: bcs.string(),
        name: bcs.string(),
      }),
      property_version: bcs.u64(),
    }),
    aptosDecode: (from) => ({
      token_data_id: { creator: readAddress(from), collection: from.deserializeStr(), name: from.deserializeStr() },
      property_version: String(from.deserializeU64()),
    }),
    aptosEncode: (value, to) => {
      writeAddress(value.token_data_id.creator, to)
      to.serializeStr(value.token_data_id.collection)
      to.serializeStr(value.token_data_id.name)
      to.serializeU64(BigInt(value.property_version))
    },
  },
  {
    name: 'fungible-asset group',
    layout: struct('Group', {
      core: struct('ObjectCore', {
        guid_creation_num: u64,
        owner: address,
        allow_ungated_transfer: bool,
        transfer_events: eventHandle,
      }),
      store: struct('FungibleStore', { metadata: address, balance: u64, frozen: bool }),
      concurrent: struct('ConcurrentFungibleBalance', { value: u64, max_value: u64 }),
    }),
    value: {
      core: {
        guid_creation_num: '1125899906842625',
        owner: ACCOUNT,
        allow_ungated_transfer: false,
        transfer_events: handleValue('1125899906842624'),
      },
      store: { metadata: '0xa', balance: '0', frozen: false },
      concurrent: { value: '398922140', max_value: '18446744073709551615' },
    },
    mysten: bcs.struct('Group', {
      core: bcs.struct('ObjectCore', {
        guid_creation_num: bcs.u64(),
        owner: mystenAddress,
        allow_ungated_transfer: bcs.bool(),
        transfer_events: mystenEventHandle,
      }),
      store: bcs.struct('FungibleStore', { metadata: mystenAddress, balance: bcs.u64(), frozen: bcs.bool() }),
      concurrent: bcs.struct('ConcurrentFungibleBalance', { value: bcs.u64(), max_value: bcs.u64() }),
    }),
    aptosDecode: (from) => ({
      core: {
        guid_creation_num: String(from.deserializeU64()),
        owner: readAddress(from),
        allow_ungated_transfer: from.deserializeBool(),
        transfer_events: readEventHandle(from),
      },
      store: { metadata: readAddress(from), balance: String(from.deserializeU64()), frozen: from.deserializeBool() },
      concurrent: { value: String(from.deserializeU64()), max_value: String(from.deserializeU64()) },
    }),
    aptosEncode: ({ core, store, concurrent }, to) => {
      to.serializeU64(BigInt(core.guid_creation_num))
      writeAddress(core.owner, to)
      to.serializeBool(core.allow_ungated_transfer)
      writeEventHandle(core.transfer_events, to)
      writeAddress(store.metadata, to)
      to.serializeU64(BigInt(store.balance))
      to.serializeBool(store.frozen)
      to.serializeU64(BigInt(concurrent.value))
      to.serializeU64(BigInt(concurrent.max_value))
    },
  },
  {
    name: '1,000 u64',
    layout: { kind: 'vector', element: u64 },
    value: Array.from({ length: 1_000 }, (_, at) =>
      String(at % 7 === 0 ? 2n ** 64n - 1n - BigInt(at) : BigInt(at) * 19_088_743n),
    ),
    mysten: bcs.vector(bcs.u64()),
    aptosDecode: (from) => Array.from({ length: from.deserializeUleb128AsU32() }, () => String(from.deserializeU64())),
    aptosEncode: (value: string[], to) => {
      to.serializeU32AsUleb128(value.length)
      for (const item of value) to.serializeU64(BigInt(item))
    },
  },
  {
    name: '100 kB of bytes',
    layout: { kind: 'vector', element: { kind: 'u8' } },
    value: `0x${'a7'.repeat(100_000)}`,
    mysten: bcs
      .byteVector()
      .transform({ input: (value: string) => fromHex(value), output: (bytes) => `0x${toHex(Uint8Array.from(bytes))}` }),
    aptosDecode: (from) => Hex.fromHexInput(from.deserializeBytes()).toString(),
    aptosEncode: (value: string, to) => to.serializeBytes(Hex.fromHexString(value).toUint8Array()),
  },
  {
    name: 'string map of 50',
    layout: struct('SimpleMap', { data: { kind: 'vector', element: struct('Element', { key: text, value: text }) } }),
    value: {
      data: Array.from({ length: 50 }, (_, at) => ({ key: `property ${at}`, value: `some value of it ${at * at}` })),
    },
    mysten: bcs.struct('SimpleMap', {
      data: bcs.vector(bcs.struct('Element', { key: bcs.string(), value: bcs.string() })),
    }),
    aptosDecode: (from) => ({
      data: Array.from({ length: from.deserializeUleb128AsU32() }, () => ({
        key: from.deserializeStr(),
        value: from.deserializeStr(),
      })),
    }),
    aptosEncode: (value, to) => {
      to.serializeU32AsUleb128(value.data.length)
      for (const item of value.data) {
        to.serializeStr(item.key)
        to.serializeStr(item.value)
      }
    },
  },
]

const TYPE_TEXT =
  '0x1::coin::CoinStore<0x5a97986a9d031c4567e15b797be516910cfcb4156312482efc6a19c0a30c948::lp_coin::LP<0x1::a::A, vector<u8>>>'

/** Most calls between two readings of the clock. */
const MOST_CALLS = 64
/**
 * Most time between two readings, unless one call takes longer. So short a time is seldom interrupted on a busy
 * machine.
 */
const READING_MS = 0.2

interface Rival {
  readonly subject: string
  readonly role: Role
  readonly run: () => unknown
}

export const codecSuite: Suite = {
  name: 'codec',
  summary: 'values to JSON and back, and type tags, compared with @mysten/bcs and @aptos-labs/ts-sdk',
  estimate: (scale) => ({ minutes: scale === 'tiny' ? 1 : 2, memoryBytes: 0.3e9, diskBytes: 0 }),
  charts: [
    {
      title: 'Decoding: BCS to JSON',
      metric: 'time',
      x: 'value',
      where: { direction: 'decode' },
      logarithmic: true,
      caption: 'All read the same bytes and write JSON text.',
    },
    {
      title: 'Encoding: JSON to BCS',
      metric: 'time',
      x: 'value',
      where: { direction: 'encode' },
      logarithmic: true,
      caption: 'All read the same JSON text and write the same bytes.',
    },
  ],
  async run(run) {
    for (const one of CASES) await runCase(run, one)
    await measureRivals(run, 'a type tag: parse and print', {}, [
      { subject: 'ours', role: 'ours', run: () => typeTagToText(parseTypeTag(TYPE_TEXT)) },
      { subject: 'ts-sdk', role: 'peer', run: () => parseAptosTypeTag(TYPE_TEXT).toString() },
    ])
  },
}

async function runCase(run: BenchRun, { name, layout, value, mysten, aptosDecode, aptosEncode }: Case): Promise<void> {
  const codec = codecOf(layout)
  const json = JSON.stringify(value)
  const bytes = codec.jsonToBytes(parseJson(json))
  const aptosEncodeWhole = () => {
    const to = new Serializer()
    aptosEncode(JSON.parse(json), to)
    return to.toUint8Array()
  }
  const mystenEncode = () => mysten.serialize(JSON.parse(json)).toBytes()
  for (const [rival, written] of [
    ['@mysten/bcs', mystenEncode()],
    ['ts-sdk', aptosEncodeWhole()],
  ] as const) {
    if (Buffer.compare(written, bytes) !== 0) throw new Error(`${name}: ${rival} writes different bytes`)
  }
  const ready = JSON.parse(codec.bytesToJson(bytes)) as unknown
  await measureRivals(run, `${name}: BCS to JSON`, { value: name, direction: 'decode' }, [
    { subject: 'ours', role: 'ours', run: () => codec.bytesToJsonUtf8(bytes) },
    { subject: 'only JSON.stringify', role: 'floor', run: () => JSON.stringify(ready) },
    { subject: '@mysten/bcs', role: 'peer', run: () => JSON.stringify(mysten.parse(bytes)) },
    { subject: 'ts-sdk', role: 'peer', run: () => JSON.stringify(aptosDecode(new Deserializer(bytes))) },
  ])
  await measureRivals(run, `${name}: JSON to BCS`, { value: name, direction: 'encode' }, [
    { subject: 'ours', role: 'ours', run: () => codec.jsonTextToBytes(json) },
    { subject: 'only JSON.parse', role: 'floor', run: () => JSON.parse(json) },
    { subject: '@mysten/bcs', role: 'peer', run: mystenEncode },
    { subject: 'ts-sdk', role: 'peer', run: aptosEncodeWhole },
  ])
}

async function measureRivals(
  run: BenchRun,
  title: string,
  at: Record<string, string>,
  rivals: readonly Rival[],
): Promise<void> {
  run.step(title)
  const contenders = rivals.map(({ run: once }) => {
    const count = callsOfOneReading(once)
    return {
      count,
      run() {
        let result: unknown
        for (let call = 0; call < count; call++) result = once()
        return result
      },
    }
  })
  const costs = await measureInRounds(contenders, run.byScale({ ...ROUNDS, tiny: { rounds: 2, milliseconds: 1 } }))
  for (const [index, { subject, role }] of rivals.entries()) {
    run.record({ title, subject, role, metric: 'time', unit: 'ns', rounds: costs[index]!.wall, at })
  }
}

function callsOfOneReading(once: () => unknown): number {
  let least = Number.POSITIVE_INFINITY
  for (let call = 0; call < 32; call++) {
    const before = performance.now()
    once()
    least = Math.min(least, performance.now() - before)
  }
  return Math.max(1, Math.min(MOST_CALLS, Math.round(READING_MS / least)))
}

const WHOLE = { rounds: 9, milliseconds: 40 }
const ROUNDS = { tiny: WHOLE, small: WHOLE, medium: WHOLE, large: WHOLE }
