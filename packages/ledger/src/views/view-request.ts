import type { JsonValue } from '@ledger-state/bcs'
import type { TypeTag } from '@ledger-state/type-tag'

/** A call of a view function. */
export interface ViewRequest {
  /** 32 bytes. */
  readonly address: Uint8Array
  readonly module: string
  readonly function: string
  readonly typeArguments: readonly TypeTag[]
  /** Arguments; those in JSON are read by the types of the parameters, as the module declares them at the version. */
  readonly arguments: { readonly json: readonly JsonValue[] } | { readonly bcs: readonly Uint8Array[] }
}
