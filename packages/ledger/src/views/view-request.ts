import type { JsonValue } from '@ledger-state/bcs'
import type { TypeTag } from '@ledger-state/type-tag'

/** A call of a view function. */
export interface ViewRequest {
  /** Address of 32 bytes. */
  readonly address: Uint8Array
  readonly module: string
  readonly function: string
  readonly typeArguments: readonly TypeTag[]
  /** Arguments. JSON arguments are read by the types of the parameters that the module declares at the version. */
  readonly arguments: { readonly json: readonly JsonValue[] } | { readonly bcs: readonly Uint8Array[] }
}
