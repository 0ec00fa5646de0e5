import { ADDRESS_LENGTH, ByteReader, ByteWriter, isLedgerStateError } from '@ledger-state/core'
import { parseStructTag, resourceKey } from '@ledger-state/type-tag'
import { accountNotFound, storedDataInvalid } from '../errors.js'
import type { LedgerState } from '../state/ledger-state.js'
import { DEFAULT_ACCOUNT_RESOURCE, isFeatureOn } from './feature-flags.js'

/** The fields of an account that clients ask for. */
export interface AccountFields {
  readonly sequenceNumber: bigint
  /** Authentication key; normally 32 bytes. */
  readonly authenticationKey: Uint8Array
}

/** An account as `0x1::account::Account` describes it. */
export interface Account {
  /**
   * BCS of `0x1::account::Account`: as stored or, for an account without a stored one, with the values that the chain
   * assumes.
   */
  readonly bytes: Uint8Array
  /**
   * Decodes the fields.
   * @throws `stored_data_invalid`
   */
  readFields(): AccountFields
}

const ACCOUNT = parseStructTag('0x1::account::Account')

/**
 * Reads an account. If the chain allows accounts without a stored resource, every address is an account.
 * @throws `account_not_found`
 */
export function readAccount({ view }: LedgerState, address: Uint8Array): Account {
  const stored = view.get(resourceKey(address, ACCOUNT))
  if (stored) return { bytes: stored, readFields: () => readAccountFields(stored) }
  if (!isFeatureOn(view, DEFAULT_ACCOUNT_RESOURCE)) throw accountNotFound(address, view.version)
  return {
    bytes: defaultAccountBytes(address),
    readFields: () => ({ sequenceNumber: 0n, authenticationKey: address }),
  }
}

/**
 * Reads authentication key bytes | sequence number u64 | guid creation number u64 | two event handles (counter u64,
 * creation number u64, address) | two options of an address
 */
function readAccountFields(bytes: Uint8Array): AccountFields {
  const reader = new ByteReader(bytes)
  try {
    const authenticationKey = reader.readByteString()
    const sequenceNumber = reader.readU64()
    reader.skip(8)
    for (let handle = 0; handle < 2; handle++) reader.skip(8 + 8 + ADDRESS_LENGTH)
    for (let option = 0; option < 2; option++) if (reader.readBool()) reader.skip(ADDRESS_LENGTH)
    reader.expectEnd()
    return { sequenceNumber, authenticationKey }
  } catch (error) {
    if (!isLedgerStateError(error, 'invalid_bcs')) throw error
    throw storedDataInvalid.storedAccountInvalid(error)
  }
}

function defaultAccountBytes(address: Uint8Array): Uint8Array {
  const writer = new ByteWriter().byteString(address).u64(0n).u64(2n)
  for (const creationNumber of [0n, 1n]) writer.u64(0n).u64(creationNumber).bytes(address)
  return writer.bool(false).bool(false).toBytes()
}
