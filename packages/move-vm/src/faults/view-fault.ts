/** Why a view has no results. All are 400 `invalid_input` at a node. */
export interface ViewFault {
  /** The status code of the VM, as 4016; undefined where none is known. */
  readonly code: number | undefined
  readonly name: string
  readonly subStatus: bigint | undefined
  readonly message: string
}
