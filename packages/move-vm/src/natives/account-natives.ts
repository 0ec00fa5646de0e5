import { hexToBytes } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { concatBytes } from '@noble/hashes/utils.js'
import { Reference, StructValue, type Value } from '../values/value.js'
import { addressOf, bytesOf, structAt } from './arguments.js'
import { hashBytes } from './hash-natives.js'
import type { Native } from './native.js'

const ADDRESS_LENGTH = 32
const INVALID_ADDRESS = 2
/** What is hashed behind the two addresses of a derived object. */
const DERIVED_OBJECT_SCHEME = 0xfc

const PERMISSIONED_SIGNER_FLAG = 84
const PERMISSIONED_SIGNER_OFF = 9
const INTERNAL_TYPE_ERROR = 2009

/** Variants of a signer. */
const SIGNER = { master: 0, permissioned: 1 } as const

const SMALL_PRICE = 10

const createSigner: Native = (context, [address]) => {
  context.charge(SMALL_PRICE)
  return [new StructValue(SIGNER.master, [addressOf(address)])]
}

/** The address of the permissions of a signer. */
function permissionAddress(signer: StructValue): Value | undefined {
  return signer.variant === SIGNER.permissioned ? signer.fields[1] : undefined
}

export const ACCOUNT_NATIVES: Readonly<Record<string, Native>> = {
  '0x1::signer::borrow_address': (_context, [signer]) => [new Reference(structAt(signer).fields, 0)],
  '0x1::create_signer::create_signer': createSigner,
  '0x1::account::create_signer': createSigner,
  '0x1::genesis::create_signer': createSigner,
  '0x1::account::create_address': (context, [value]) => {
    const bytes = bytesOf(value)
    if (bytes.length !== ADDRESS_LENGTH) context.abort(INVALID_ADDRESS)
    context.charge(SMALL_PRICE)
    return [bytesToHexDigits(bytes)]
  },
  '0x1::object::exists_at': (context, [address]) => {
    context.charge(SMALL_PRICE)
    return [context.globals.borrowResource(addressOf(address), context.typeArguments[0]!) !== undefined]
  },
  '0x1::object::create_user_derived_object_address_impl': (context, [source, deriveFrom]) => {
    const input = [source, deriveFrom].map((address) => hexToBytes(addressOf(address)))
    const scheme = Uint8Array.of(DERIVED_OBJECT_SCHEME)
    return [bytesToHexDigits(hashBytes(context, 'sha3_256', concatBytes(...input, scheme)))]
  },
  '0x1::permissioned_signer::is_permissioned_signer_impl': (context, [signer]) => {
    context.charge(SMALL_PRICE)
    return [context.isFeatureOn(PERMISSIONED_SIGNER_FLAG) && permissionAddress(structAt(signer)) !== undefined]
  },
  '0x1::permissioned_signer::permission_address': (context, [signer]) => {
    if (!context.isFeatureOn(PERMISSIONED_SIGNER_FLAG)) context.abort(PERMISSIONED_SIGNER_OFF)
    context.charge(SMALL_PRICE)
    const address = permissionAddress(structAt(signer))
    return [address ?? context.fault(INTERNAL_TYPE_ERROR, 'the signer is not permissioned')]
  },
  '0x1::permissioned_signer::signer_from_permissioned_handle_impl': (context, [master, permissions]) => {
    if (!context.isFeatureOn(PERMISSIONED_SIGNER_FLAG)) context.abort(PERMISSIONED_SIGNER_OFF)
    context.charge(SMALL_PRICE)
    return [new StructValue(SIGNER.permissioned, [addressOf(master), addressOf(permissions)])]
  },
}
