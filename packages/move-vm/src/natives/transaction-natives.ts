import { bytesToHexDigits, copyBytes } from '@ledger-state/core/bytes'
import { byteVectorOf, toMoveString, toVector } from './arguments.js'
import { areValidatorTransactionsEnabled } from './consensus-config.js'
import { hashBytes } from './hash-natives.js'
import type { Native, NativeExtension } from './native.js'
import { SESSION_HASH } from './session.js'

// Natives of transactions. A view is not a transaction: these natives find no transaction data, and their actions have
// no effect.

const NO_TRANSACTION = 0x3_0001
const NOT_UNBIASABLE = 1
const UNIQUE_ADDRESS_SCHEME = 0xfb
const INTERNAL_TYPE_ERROR = 2009
/** Status code of a second request to publish. */
const SECOND_REQUEST = 2006

const UNIQUE_ADDRESSES: NativeExtension<{ count: bigint }> = {
  name: 'transaction_context',
  create: () => ({ count: 0n }),
}
const PUBLISH_REQUESTS: NativeExtension<{ isMade: boolean }> = { name: 'code', create: () => ({ isMade: false }) }

const nothing: Native = () => []
const noTransaction: Native = (context) => context.abort(NO_TRANSACTION)

const requestPublish: Native = (context) => {
  const requests = context.extension(PUBLISH_REQUESTS)
  if (requests.isMade) context.fault(SECOND_REQUEST, 'a second request to publish in one call')
  requests.isMade = true
  return []
}

const WITHOUT_TRANSACTION = [
  'sender_internal',
  'secondary_signers_internal',
  'gas_payer_internal',
  'max_gas_amount_internal',
  'gas_unit_price_internal',
  'chain_id_internal',
  'entry_function_payload_internal',
  'multisig_payload_internal',
  'is_encrypted_txn_internal',
  'monotonically_increasing_counter_internal',
  'monotonically_increasing_counter_internal_for_test_only',
]

export const TRANSACTION_NATIVES: Readonly<Record<string, Native>> = {
  ...Object.fromEntries(WITHOUT_TRANSACTION.map((name) => [`0x1::transaction_context::${name}`, noTransaction])),
  '0x1::transaction_context::get_txn_hash': () => [toVector(copyBytes(SESSION_HASH))],
  '0x1::transaction_context::get_script_hash': () => [toVector(new Uint8Array(0))],
  '0x1::transaction_context::generate_unique_address': (context) => {
    const addresses = context.extension(UNIQUE_ADDRESSES)
    const input = new Uint8Array(SESSION_HASH.length + 8 + 1)
    input.set(SESSION_HASH)
    new DataView(input.buffer).setBigUint64(SESSION_HASH.length, addresses.count + 1n, true)
    input[input.length - 1] = UNIQUE_ADDRESS_SCHEME
    const address = bytesToHexDigits(hashBytes(context, 'sha3_256', input))
    addresses.count++
    return [address]
  },
  '0x1::event::write_to_event_store': nothing,
  '0x1::event::write_module_event_to_store': (context) => {
    // `event::emit` calls this native. The module that calls `event::emit` must define the event.
    const [type] = context.typeArguments
    const emitter = context.callerAbove(0)
    const isOwn = type?.kind === 'struct' && type.address === emitter?.address && type.module === emitter.module
    return isOwn ? [] : context.fault(INTERNAL_TYPE_ERROR, 'an event of another module')
  },
  '0x1::code::request_publish': requestPublish,
  '0x1::code::request_publish_with_allowed_deps': requestPublish,
  '0x1::randomness::fetch_and_increment_txn_counter': (context) => context.abort(NOT_UNBIASABLE),
  '0x1::randomness::is_unbiasable': () => [false],
  '0x1::consensus_config::validator_txn_enabled_internal': (context, [config]) => {
    const bytes = byteVectorOf(config)
    context.chargeBytes(bytes.length)
    context.charge(bytes.length)
    return [areValidatorTransactionsEnabled(bytes)]
  },
  '0x1::debug::print': nothing,
  '0x1::debug::print_stack_trace': nothing,
  '0x1::debug::native_print': nothing,
  '0x1::debug::native_stack_trace': () => [toMoveString('')],
}
