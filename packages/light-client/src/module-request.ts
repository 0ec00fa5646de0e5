import { bytesToHex, parseAddress } from '@ledger-state/core'
import { moduleKey } from '@ledger-state/type-tag'

/** A request to a node: a `POST` to a path below `/v1`. */
export interface ModuleRequest {
  readonly path: string
  /** Body of the request, JSON. */
  readonly body: string
}

/**
 * Makes the request for the code of a module with its proof. The question of the kind `module` verifies the answer. Add
 * `ledger_version`, `proof=true` and `proof_from` to the path.
 * @throws `invalid_address`
 * @example
 * ```ts
 * import { moduleRequest } from '@ledger-state/light-client'
 *
 * console.log(moduleRequest({ address: '0x1', name: 'coin' }).path) // /experimental/state_values/raw
 * ```
 */
export function moduleRequest({ address, name }: { readonly address: string; readonly name: string }): ModuleRequest {
  const key = bytesToHex(moduleKey(parseAddress(address), name))
  return { path: '/experimental/state_values/raw', body: JSON.stringify({ key }) }
}
