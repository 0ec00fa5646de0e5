import type { StateView } from '@ledger-state/core'
import { decodeStateKey, moduleKey } from '@ledger-state/type-tag'
import { scanAccount } from '../accounts/scan-account.js'
import { accountModuleNotFound } from '../errors.js'
import { createListing, type Listing, type ListOptions } from '../listings/listing.js'

/** A module of an account. */
export interface AccountModule {
  /** 32 bytes. */
  readonly address: Uint8Array
  readonly name: string
  /** The stored bytes. */
  readonly bytes: Uint8Array
}

/** @throws `account_module_not_found` */
export function readAccountModule(view: StateView, address: Uint8Array, name: string): AccountModule {
  const bytes = view.get(moduleKey(address, name))
  if (!bytes) throw accountModuleNotFound(address, name, view.version)
  return { address, name, bytes }
}

/** The modules of an account in the order of their state keys' bytes: the shorter name first. */
export function listAccountModules(
  view: StateView,
  address: Uint8Array,
  { start, limit }: ListOptions = {},
): Listing<AccountModule> {
  return createListing(scanAccount(view, address, 'modules', start), limit, function* ({ key, value }) {
    const decoded = decodeStateKey(key)
    if (decoded.kind === 'module') yield { address, name: decoded.name, bytes: value }
  })
}
