export interface AbiFunction {
  readonly name: string
  readonly visibility: string
  readonly is_entry: boolean
  readonly is_view: boolean
  readonly generic_type_params: readonly { readonly constraints: readonly string[] }[]
  readonly params: readonly string[]
  readonly return: readonly string[]
}

export interface AbiStruct {
  readonly name: string
  readonly is_native: boolean
  readonly is_enum?: boolean
  readonly is_event?: boolean
  readonly abilities: readonly string[]
  readonly generic_type_params: readonly { readonly constraints: readonly string[] }[]
  readonly fields: readonly { readonly name: string; readonly type: string }[]
}

export interface ModuleAnswer {
  readonly bytecode: string
  readonly abi: {
    readonly address: string
    readonly name: string
    readonly friends: readonly string[]
    readonly exposed_functions: readonly AbiFunction[]
    readonly structs: readonly AbiStruct[]
  } | null
}
