/** Reason why a view has no results. A node answers each with 400 `invalid_input`. */
export interface ViewFault {
  /** Status code of the VM, such as 4016; undefined if the fault has none. */
  readonly code: number | undefined
  readonly name: string
  readonly subStatus: bigint | undefined
  readonly message: string
}
