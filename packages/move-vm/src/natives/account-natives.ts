import { hexToBytes } from '@ledger-state/core'
import { bytesToHexDigits } from '@ledger-state/core/bytes'
import { HASH_FUNCTIONS } from '../crypto/hashes.js'
import { Reference, StructValue, type Value } from '../values/value.js'
import { addressOf, byteVectorOf, structAt } from './arguments.js'
import { chargeHash } from './hash-natives.js'
import type { Native, NativeExtension } from './native.js'

const ADDRESS_LENGTH = 32
const INVALID_ADDRESS = 2
/** Byte that is hashed after the two addresses of a derived object. */
const DERIVED_OBJECT_SCHEME = 0xfc
const DERIVED_OBJECT_LENGTH = 2 * ADDRESS_LENGTH + 1

const MOST_DERIVED = 1_024

/**
 * The last addresses that were derived, by the two addresses that they come from, the second one first: many primary
 * stores come from one asset. The framework derives the address of a primary store each time it looks at the store.
 */
class DerivedAddresses {
  readonly #addresses = new Map<string, Map<string, string>>()
  #count = 0

  get(source: string, deriveFrom: string): string | undefined {
    return this.#addresses.get(deriveFrom)?.get(source)
  }

  add(source: string, deriveFrom: string, derived: string): void {
    if (this.#count === MOST_DERIVED) {
      this.#addresses.clear()
      this.#count = 0
    }
    this.#count++
    const known = this.#addresses.get(deriveFrom)
    if (known) known.set(source, derived)
    else this.#addresses.set(deriveFrom, new Map([[source, derived]]))
  }
}

const DERIVED_ADDRESSES: NativeExtension<DerivedAddresses> = {
  name: 'derived addresses',
  create: () => new DerivedAddresses(),
  outlivesRun: true,
}

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
  '0x1::signer::borrow_address': (_context, [signer]) => [
    new Reference(structAt(signer).fields, 0, (signer as Reference).origin),
  ],
  '0x1::create_signer::create_signer': createSigner,
  '0x1::account::create_signer': createSigner,
  '0x1::genesis::create_signer': createSigner,
  '0x1::account::create_address': (context, [value]) => {
    const bytes = byteVectorOf(value)
    if (bytes.length !== ADDRESS_LENGTH) context.abort(INVALID_ADDRESS)
    context.charge(SMALL_PRICE)
    return [bytesToHexDigits(bytes)]
  },
  '0x1::object::exists_at': (context, [address]) => {
    context.charge(SMALL_PRICE)
    return [context.globals.borrowResource(addressOf(address), context.typeArguments[0]!) !== undefined]
  },
  '0x1::object::create_user_derived_object_address_impl': (context, [source, deriveFrom]) => {
    const [first, second] = [addressOf(source), addressOf(deriveFrom)]
    chargeHash(context, 'sha3_256', DERIVED_OBJECT_LENGTH)
    const addresses = context.extension(DERIVED_ADDRESSES)
    const known = addresses.get(first, second)
    if (known !== undefined) return [known]
    const input = new Uint8Array(DERIVED_OBJECT_LENGTH)
    input.set(hexToBytes(first))
    input.set(hexToBytes(second), ADDRESS_LENGTH)
    input[2 * ADDRESS_LENGTH] = DERIVED_OBJECT_SCHEME
    const derived = bytesToHexDigits(HASH_FUNCTIONS.sha3_256.hash(input))
    addresses.add(first, second, derived)
    return [derived]
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
