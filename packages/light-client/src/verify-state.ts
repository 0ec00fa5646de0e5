import { addressToLongHex, parseAddress } from '@ledger-state/core'
import { parseStructTag, parseTypeTag } from '@ledger-state/type-tag'
import { jsonOfRequest } from './json-of-request.js'
import { connectNode, newestProvenVersion } from './node-connection.js'
import { type AskedRead, readFromNode, type StateOptions } from './read-from-node.js'
import type { VerifiedRead } from './verify-read.js'

/** A resource of an account at a node. */
export interface VerifyResourceOptions extends StateOptions {
  readonly address: string
  /** Type of the resource. */
  readonly type: string
}

/** An item of a table at a node. */
export interface VerifyTableItemOptions extends StateOptions {
  readonly handle: string
  readonly keyType: string
  readonly valueType: string
  /** The key as JSON, as in the API: an integer above 32 bits is a decimal text. */
  readonly key: unknown
}

/**
 * Asks a node for a resource of an account, and verifies the answer and the modules that decode it.
 * @throws `untrusted`, `verification_failed`, `wrong_state_key`, `wrong_version`, `answer_differs`, `invalid_answer`,
 *   and the errors of the arguments
 */
export async function verifyResource(options: VerifyResourceOptions): Promise<VerifiedRead> {
  const { address, type } = options
  parseStructTag(type)
  const path = `/accounts/${addressToLongHex(parseAddress(address))}/resource/${encodeURIComponent(type)}`
  return await readOne(options, { question: { kind: 'resource', address, type }, request: { path } })
}

/**
 * Asks a node for an item of a table, and verifies the answer and the modules that decode it.
 * @throws as `verifyResource`; `invalid_value` if the key does not fit its type
 */
export async function verifyTableItem(options: VerifyTableItemOptions): Promise<VerifiedRead> {
  const { handle, keyType, valueType, key } = options
  for (const type of [keyType, valueType]) parseTypeTag(type)
  const request = {
    path: `/tables/${addressToLongHex(parseAddress(handle))}/item`,
    body: jsonOfRequest('key', { key_type: keyType, value_type: valueType, key: key ?? null }),
  }
  return await readOne(options, { question: { kind: 'table_item', handle, keyType, valueType, key }, request })
}

async function readOne(options: StateOptions, asked: AskedRead): Promise<VerifiedRead> {
  const node = connectNode(options)
  const version = options.version ?? (await newestProvenVersion(node))
  return await readFromNode(node, asked, version, node.trust.waypoint)
}
