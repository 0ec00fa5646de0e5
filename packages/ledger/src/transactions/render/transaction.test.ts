// Transactions of every kind of payload and signature, and transactions that cannot be printed. The kits have real
// examples of most.
import { atOnce, ByteWriter, bytesToHex, parseAddress } from '@ledger-state/core'
import { createMemoryEngine } from '@ledger-state/engine'
import { LedgerHasher } from '@ledger-state/proof'
import { hasSharedData } from '@ledger-state/testing/shared-data'
import { parseStructTag, writeTypeTag } from '@ledger-state/type-tag'
import { beforeAll, describe, expect, it } from 'vitest'
import { writesOfGenesis } from '../../../testing/genesis-writes.js'
import { ModuleCache } from '../../caches/module-cache.js'
import { ModuleInterfaces } from '../../caches/module-interfaces.js'
import { CachedTypeResolver } from '../../types/type-resolver.js'
import type { RenderContext } from './render-context.js'
import { transactionToJson } from './transaction.js'
import { transactionToBcs } from './transaction-to-bcs.js'

const SENDER = parseAddress('0xa11ce')
const OTHER = parseAddress('0xb0b')
const NOTHING = new Uint8Array(0)
const filled = (length: number, byte: number) => new Uint8Array(length).fill(byte)
const hex = (bytes: Uint8Array) => bytesToHex(bytes)
const joined = (...parts: readonly Uint8Array[]) => Uint8Array.from(parts.flatMap((part) => [...part]))
const bytesOf = (write: (writer: ByteWriter) => ByteWriter) => write(new ByteWriter()).toBytes()

const KEY = filled(32, 1)
const SIGNATURE = filled(64, 2)
const entryFunction = bytesOf((writer) =>
  writer
    .bytes(parseAddress('0x1'))
    .string('aptos_account')
    .string('transfer')
    .uleb128(0)
    .uleb128(2)
    .byteString(OTHER)
    .byteString(bytesOf((value) => value.u64(5n))),
)
const CALLED = {
  function: '0x1::aptos_account::transfer',
  type_arguments: [],
  arguments: ['0xb0b', '5'],
  type: 'entry_function_payload',
}
const script = bytesOf((writer) => writer.byteString(Uint8Array.of(9)).uleb128(0).uleb128(1).u8(5).bool(true))
const SCRIPT = {
  code: { bytecode: '0x09', abi: null },
  type_arguments: [],
  arguments: ['0x01'],
  type: 'script_payload',
}
const some = (bytes: Uint8Array) => joined(Uint8Array.of(1), bytes)
const NONE = Uint8Array.of(0)
const NONCE = bytesOf((writer) => writer.u64(77n))
const variant = (number: number, ...parts: readonly Uint8Array[]) => joined(Uint8Array.of(number), ...parts)
const versioned = (executable: Uint8Array, multisig: Uint8Array, nonce: Uint8Array) =>
  variant(4, NONE, executable, NONE, multisig, nonce)
const multisigOf = (called: unknown) => ({
  multisig_address: '0xb0b',
  transaction_payload: called,
  type: 'multisig_payload',
})

/** Payloads with their JSON, or with the kind that the refusal names. */
const PAYLOADS: readonly (readonly [name: string, bytes: Uint8Array, json: object | string, nonce?: string])[] = [
  ['a script', variant(0, script), SCRIPT],
  ['a bundle of modules', variant(1, NONE), 'variant 1 of a payload'],
  ['an entry function', variant(2, entryFunction), CALLED],
  ['a multisig', variant(3, OTHER, some(variant(0, entryFunction))), multisigOf(CALLED)],
  ['a multisig without a call', variant(3, OTHER, NONE), multisigOf(null)],
  ['a versioned script', versioned(variant(0, script), NONE, NONE), SCRIPT],
  ['an orderless script', versioned(variant(0, script), NONE, some(NONCE)), SCRIPT, '77'],
  ['a versioned entry function', versioned(variant(1, entryFunction), NONE, NONE), CALLED],
  ['an orderless entry function', versioned(variant(1, entryFunction), NONE, some(NONCE)), CALLED, '77'],
  ['a versioned multisig', versioned(variant(1, entryFunction), some(OTHER), NONE), multisigOf(CALLED)],
  ['an orderless empty multisig', versioned(variant(2), some(OTHER), some(NONCE)), multisigOf(null), '77'],
  ['a versioned multisig with a script', versioned(variant(0, script), some(OTHER), NONE), 'script in a versioned'],
  ['nothing to run', versioned(variant(2), NONE, NONE), 'empty in a versioned payload'],
  ['an executable of an unknown kind', versioned(variant(3), NONE, NONE), 'variant 3 of an executable'],
  ['an encrypted call', variant(5, NONE, variant(1, Uint8Array.of(8)), NONE, NONE, NONE, filled(32, 3)), 'encrypted'],
  ['a payload of an unknown kind', variant(6), 'variant 6 of a payload'],
]

const account = {
  ed25519: bytesOf((writer) => writer.u8(0).byteString(KEY).byteString(SIGNATURE)),
  multiEd25519: bytesOf((writer) =>
    writer
      .u8(1)
      .byteString(joined(KEY, KEY, Uint8Array.of(1)))
      .byteString(joined(SIGNATURE, Uint8Array.of(0x40, 0, 0, 0))),
  ),
  singleKey: bytesOf((writer) => writer.u8(2).u8(1).byteString(filled(65, 4)).u8(1).byteString(SIGNATURE)),
  multiKey: bytesOf((writer) =>
    writer
      .u8(3)
      .uleb128(2)
      .u8(0)
      .byteString(KEY)
      .u8(2)
      .byteString(filled(65, 5))
      .u8(1)
      .uleb128(1)
      .u8(2)
      .u8(0)
      .byteString(SIGNATURE)
      .byteString(Uint8Array.of(6))
      .byteString(Uint8Array.of(7))
      .byteString(Uint8Array.of(0x40)),
  ),
  none: Uint8Array.of(4),
  abstract: bytesOf((writer) =>
    writer.u8(5).bytes(OTHER).string('m').string('f').u8(0).byteString(Uint8Array.of(1)).byteString(Uint8Array.of(2)),
  ),
}
type AccountKind = keyof typeof account

const ED25519_MEMBERS = { public_key: hex(KEY), signature: hex(SIGNATURE) }
const WEB_AUTHN = bytesOf((writer) =>
  writer.u8(0).byteString(SIGNATURE).byteString(Uint8Array.of(6)).byteString(Uint8Array.of(7)),
)
/** Members of the signatures of accounts, and their types. */
const ACCOUNT_JSON: Readonly<Record<AccountKind, readonly [members: object, type: string]>> = {
  ed25519: [ED25519_MEMBERS, 'ed25519_signature'],
  multiEd25519: [
    { public_keys: [hex(KEY), hex(KEY)], signatures: [hex(SIGNATURE)], threshold: 1, bitmap: '0x40000000' },
    'multi_ed25519_signature',
  ],
  singleKey: [
    {
      public_key: { value: hex(filled(65, 4)), type: 'secp256k1_ecdsa' },
      signature: { value: hex(SIGNATURE), type: 'secp256k1_ecdsa' },
    },
    'single_key_signature',
  ],
  multiKey: [
    {
      public_keys: [
        { value: hex(KEY), type: 'ed25519' },
        { value: hex(filled(65, 5)), type: 'secp256r1_ecdsa' },
      ],
      signatures: [{ index: 1, signature: { value: hex(WEB_AUTHN), type: 'web_authn' } }],
      signatures_required: 1,
    },
    'multi_key_signature',
  ],
  none: [{}, 'no_account_signature'],
  abstract: [{ function_info: `${hex(OTHER).slice(2)}::m::f`, auth_data: '0x0001010102' }, 'abstract_signature'],
}
const typed = (kind: AccountKind) => ({ ...ACCOUNT_JSON[kind][0], type: ACCOUNT_JSON[kind][1] })

/** Authenticators with their JSON. */
const AUTHENTICATORS: readonly (readonly [name: string, bytes: Uint8Array, json: object])[] = [
  ['ed25519', account.ed25519, typed('ed25519')],
  ['multi ed25519', account.multiEd25519, typed('multiEd25519')],
  ...(Object.keys(account) as AccountKind[]).flatMap((kind) => {
    const members = { sender: typed(kind), secondary_signer_addresses: ['0xb0b'], secondary_signers: [typed(kind)] }
    const signers = joined(account[kind], Uint8Array.of(1), OTHER, Uint8Array.of(1), account[kind])
    const payer = { fee_payer_address: '0xa11ce', fee_payer_signer: typed(kind) }
    return [
      [`single sender, ${kind}`, variant(4, account[kind]), { ...ACCOUNT_JSON[kind][0], type: 'single_sender' }],
      [`multi agent, ${kind}`, variant(2, signers), { ...members, type: 'multi_agent_signature' }],
      [
        `fee payer, ${kind}`,
        variant(3, signers, SENDER, account[kind]),
        { ...members, ...payer, type: 'fee_payer_signature' },
      ],
    ] as const
  }),
]

const INFO = bytesOf((writer) => writer.u8(0).u64(6n).u8(0).bytes(filled(96, 7)).u8(0).u8(0))

function userTransaction(payload: Uint8Array, authenticator: Uint8Array): Uint8Array {
  return bytesOf((writer) =>
    writer
      .u8(0)
      .bytes(SENDER)
      .u64(3n)
      .bytes(payload)
      .u64(2_000n)
      .u64(100n)
      .u64(1_800_000_000n)
      .u8(4)
      .bytes(authenticator),
  )
}

function wholeOf(transaction: Uint8Array, events: readonly Uint8Array[] = []) {
  return {
    transaction,
    info: INFO,
    events: bytesOf((writer) => writer.uleb128(events.length).bytes(joined(...events))),
    writeSet: Uint8Array.of(0, 0),
    indexInBlock: undefined,
    accumulatorRoot: filled(32, 8),
  }
}

/** The members of an object, in order. */
const entriesOf = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(entriesOf)
    : typeof value === 'object' && value !== null
      ? Object.entries(value).map(([name, member]) => [name, entriesOf(member)])
      : value

// This needs the shared folder.
describe.runIf(hasSharedData)('the JSON of a transaction', () => {
  let context: RenderContext

  const shown = (transaction: Uint8Array, events: readonly Uint8Array[] = []) =>
    JSON.parse(
      atOnce(transactionToJson(context, { version: 9n, whole: wholeOf(transaction, events), timestampUsec: 5n })),
    ) as Readonly<Record<string, unknown>>

  beforeAll(async () => {
    const engine = createMemoryEngine()
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const writes = writesOfGenesis('data/genesis/devnet.genesis.blob')
    await engine.commit([{ version: 0n, block, writes }], { chainId: 4 })
    const modules = new ModuleCache()
    const types = new CachedTypeResolver(modules)
    context = { view: engine.at(0n), types, modules, interfaces: new ModuleInterfaces(), hasher: new LedgerHasher() }
  })

  it('has every payload with every signature, or refuses the payload by its kind and version; twice', () => {
    for (let times = 0; times < 2; times++) {
      for (const [payloadName, payload, expected, nonce = null] of PAYLOADS) {
        for (const [name, authenticator, signature] of AUTHENTICATORS) {
          const transaction = userTransaction(payload, authenticator)
          const named = `${payloadName}, ${name}`
          if (typeof expected === 'string') {
            expect(() => shown(transaction), named).toThrow(
              expect.objectContaining({
                code: 'stored_data_invalid',
                message: expect.stringMatching(new RegExp(`version 9.*${expected}`)),
              }),
            )
            continue
          }
          const json = shown(transaction)
          expect(entriesOf(json.payload), named).toEqual(entriesOf(expected))
          expect(entriesOf(json.signature), named).toEqual(entriesOf(signature))
          expect(json.replay_protection_nonce, named).toBe(nonce)
        }
      }
    }
  })

  it('refuses a signature and a transaction of an unknown kind by name', () => {
    const unknown: readonly (readonly [Uint8Array, RegExp])[] = [
      [userTransaction(variant(2, entryFunction), variant(5)), /version 9.*variant 5/],
      [userTransaction(variant(2, entryFunction), variant(4, variant(6))), /version 9.*variant 6/],
      [variant(7), /version 9.*variant 7/],
      [variant(4, variant(2)), /version 9.*variant 2/],
      [variant(6, variant(2)), /version 9.*variant 2/],
    ]
    for (const [transaction, message] of unknown)
      expect(() => shown(transaction)).toThrow(
        expect.objectContaining({ code: 'stored_data_invalid', message: expect.stringMatching(message) }),
      )
  })

  it('has events of both versions, and the hex of those that do not decode', () => {
    const typeOf = (text: string) =>
      bytesOf((writer) => {
        writeTypeTag(writer, parseStructTag(text))
        return writer
      })
    const keyed = (type: Uint8Array, data: Uint8Array) =>
      bytesOf((writer) => writer.u8(0).u64(4n).bytes(OTHER).u64(11n).bytes(type).byteString(data))
    const modular = (type: Uint8Array, data: Uint8Array) =>
      bytesOf((writer) => writer.u8(1).bytes(type).byteString(data))
    const registered = typeOf('0x1::object::TransferEvent')
    const unknown = typeOf('0x99::nope::Event<0x1::object::ObjectCore>')
    const data = joined(SENDER, OTHER, SENDER)
    const { events } = shown(userTransaction(variant(2, entryFunction), account.ed25519), [
      keyed(registered, data),
      modular(registered, data),
      keyed(registered, data.subarray(1)),
      modular(registered, joined(data, NONE)),
      modular(unknown, Uint8Array.of(1, 2)),
      keyed(unknown, NOTHING),
    ])
    const stream = { guid: { creation_number: '4', account_address: '0xb0b' }, sequence_number: '11' }
    const noStream = { guid: { creation_number: '0', account_address: '0x0' }, sequence_number: '0' }
    const type = '0x1::object::TransferEvent'
    const decoded = { object: '0xa11ce', from: '0xb0b', to: '0xa11ce' }
    const nope = '0x99::nope::Event<0x1::object::ObjectCore>'
    expect(events).toEqual([
      { ...stream, type, data: decoded },
      { ...noStream, type, data: decoded },
      { ...stream, type, data: hex(data.subarray(1)) },
      { ...noStream, type, data: hex(joined(data, NONE)) },
      { ...noStream, type: nope, data: '0x0102' },
      { ...stream, type: nope, data: '0x' },
    ])
  })

  it('is not needed for BCS: every part is as it is stored, even of an unknown kind', () => {
    const whole = wholeOf(variant(7, filled(9, 1)))
    const { transaction, info, events, accumulatorRoot, writeSet } = whole
    const version = bytesOf((writer) => writer.u64(9n))
    expect(hex(transactionToBcs(9n, whole))).toBe(
      hex(joined(version, transaction, info, events, accumulatorRoot, writeSet)),
    )
  })
})
