import type { components, operations } from '../../generated/open-api.ts'

/** JSON body of an operation's answer. */
type AnswerOf<Id extends keyof operations> = operations[Id]['responses'] extends {
  readonly 200: { readonly content: { readonly 'application/json': infer Body } }
}
  ? Body
  : never

type Schemas = components['schemas']

export type Account = Schemas['Account']
export type Block = Schemas['Block']
/** The versions of the ledger that validators signed; null if nothing verifies the ledger. */
export type Trust = AnswerOf<'trust'>
/** The program of the node, its versions and the state that its store began with. */
export type NodeInfo = AnswerOf<'info'>
/** The part of its ledger that the store keeps. */
export type Slice = AnswerOf<'get_slice'>
export type SliceMember = Slice['members'][number]
export type ErrorBody = Partial<Schemas['Error']>
export type Resource = Schemas['Resource']

/** Results of many reads of resources, in the order of the requests. */
export type ResourcesBatch = AnswerOf<'get_resources_batch'>

export type ModuleAnswer = Schemas['Module']

/** Old and new value of a resource or module of an account; null if it does not exist. */
export type AccountChange = AnswerOf<'get_account_changes'>[number]
/**
 * A change of a balance. It has no time if it was written before the window, and an error instead of a balance that
 * cannot be read.
 */
export type BalanceChange = AnswerOf<'get_account_balance_history'>[number]
/** A change of a resource. Its value is null after a deletion; if it cannot be read, it has an error instead. */
export type ResourceChange = AnswerOf<'get_account_resource_history'>[number]
export type TableItemChange = AnswerOf<'get_table_item_history'>[number]
export type ValueChange = ResourceChange | TableItemChange

/** The transaction that made a change, on nodes that keep transactions. */
export type KeptTransaction = Schemas['KeptTransaction']

/** A store that holds an asset: one balance of its owner, one holder of the asset. */
export type Holding = AnswerOf<'get_account_balances'>[number]
/** A change of an account's holding in a store. */
export type Activity = AnswerOf<'get_account_activities'>[number]
export type OwnedObject = AnswerOf<'get_account_objects'>[number]
export type Token = AnswerOf<'get_collection_tokens'>[number]

/** The members that all kinds of transactions have. */
export type WholeTransaction = AnswerOf<'get_transactions'>[number]

export type TablePage = AnswerOf<'get_table_items'>
export type ListedTableItem = TablePage['items'][number]

export type TypeUsesPage = AnswerOf<'get_type_uses'>
/** A resource or a module that uses a type. */
export type TypeUse = TypeUsesPage['uses'][number]
