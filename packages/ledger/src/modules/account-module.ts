import { isLedgerStateError, type Steps } from '@ledger-state/core'
import { type ModuleAbi, moduleAbi, moduleAbiToJson, readModuleInterface } from '@ledger-state/move-module'
import { decodeStateKey, moduleKey } from '@ledger-state/type-tag'
import { scanAccount } from '../accounts/scan-account.js'
import { accountModuleNotFound } from '../errors.js'
import { createListing, type Listing, type ListOptions } from '../listings/listing.js'
import type { LedgerState } from '../state/ledger-state.js'

/** A module of an account. */
export interface AccountModule {
  /** Address of 32 bytes. */
  readonly address: Uint8Array
  readonly name: string
  /** The module as it is stored. */
  readonly bytes: Uint8Array
  /** The ABI. Undefined if the bytes are not a readable module, or its types are too long to print. */
  readAbi(): ModuleAbi | undefined
  /** The ABI as JSON, in steps; null if it is undefined. */
  abiToJson(): Steps<string>
}

class StoredModule implements AccountModule {
  readonly address: Uint8Array
  readonly name: string
  readonly bytes: Uint8Array

  constructor(address: Uint8Array, name: string, bytes: Uint8Array) {
    this.address = address
    this.name = name
    this.bytes = bytes
  }

  readAbi(): ModuleAbi | undefined {
    try {
      return moduleAbi(readModuleInterface(this.bytes))
    } catch (error) {
      if (isLedgerStateError(error, 'invalid_module', 'type_too_large')) return undefined
      throw error
    }
  }

  abiToJson(): Steps<string> {
    return abiToJson(this.bytes)
  }
}

/** The ABI of a module as JSON, in steps. Null if the bytes are not a readable module, or its types are too long to print. */
export function* abiToJson(module: Uint8Array): Steps<string> {
  try {
    return yield* moduleAbiToJson(module)
  } catch (error) {
    if (isLedgerStateError(error, 'invalid_module', 'type_too_large')) return 'null'
    throw error
  }
}

export function createAccountModule(address: Uint8Array, name: string, bytes: Uint8Array): AccountModule {
  return new StoredModule(address, name, bytes)
}

/**
 * Reads a module of an account.
 * @throws `account_module_not_found`
 */
export function readAccountModule({ view }: LedgerState, address: Uint8Array, name: string): AccountModule {
  const bytes = view.get(moduleKey(address, name))
  if (!bytes) throw accountModuleNotFound(address, name, view.version)
  return createAccountModule(address, name, bytes)
}

/** The modules of an account in the order of their state keys' bytes: shorter names come first. */
export function listAccountModules(
  { view }: LedgerState,
  address: Uint8Array,
  { start, ...ends }: ListOptions = {},
): Listing<AccountModule> {
  return createListing(scanAccount(view, address, 'modules', start), ends, function* ({ key, value }) {
    const decoded = decodeStateKey(key)
    if (decoded.kind === 'module') yield createAccountModule(address, decoded.name, value)
  })
}
