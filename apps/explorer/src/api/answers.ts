import type { components, operations } from '../../generated/open-api.ts'

/** The JSON that an operation answers with. */
type AnswerOf<Id extends keyof operations> = operations[Id]['responses'] extends {
  readonly 200: { readonly content: { readonly 'application/json': infer Body } }
}
  ? Body
  : never

type Schemas = components['schemas']

export type Account = Schemas['Account']
export type Block = Schemas['Block']
/** How far validators signed the ledger; null if nothing vouches for it. */
export type Trust = AnswerOf<'trust'>
/** What part of its ledger the store keeps. */
export type Slice = AnswerOf<'get_slice'>
export type SliceMember = Slice['members'][number]
export type ErrorBody = Partial<Schemas['Error']>
export type Resource = Schemas['Resource']

export type ModuleAnswer = Schemas['Module']
export type ModuleAbi = Schemas['ModuleAbi']
export type AbiFunction = ModuleAbi['exposed_functions'][number]
export type AbiStruct = ModuleAbi['structs'][number]

/** What a resource or module of an account was and is; null if it is not there. */
export type AccountChange = AnswerOf<'get_account_changes'>[number]
/** A change of a balance; without a time where it was written before the window. With an error in place of a balance that cannot be read. */
export type BalanceChange = AnswerOf<'get_account_balance_history'>[number]
/** A change of a resource; its value is null if it was deleted; where it cannot be read, an error stands in its place. */
export type ResourceChange = AnswerOf<'get_account_resource_history'>[number]
export type TableItemChange = AnswerOf<'get_table_item_history'>[number]
export type ValueChange = ResourceChange | TableItemChange

/** The transaction that made a change; nodes that keep transactions have it. */
export type KeptTransaction = Schemas['KeptTransaction']

export type TablePage = AnswerOf<'get_table_items'>
export type TableItem = TablePage['items'][number]

export type TypeUsesPage = AnswerOf<'get_type_uses'>
/** A resource or a module that uses a type. */
export type TypeUse = TypeUsesPage['uses'][number]
