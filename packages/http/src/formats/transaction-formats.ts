import { addressToShortHex, bytesToHex } from '@ledger-state/core'
import { hasTransactions, type LedgerState, transactionAt } from '@ledger-state/ledger'
import type { KeptTransaction } from '@ledger-state/records'
import { csvCell } from './csv-cell.js'
import type { JsonSchema } from './json-schema.js'

/** Finds the transaction that made a version; undefined if the store does not keep transactions. */
export type TransactionOf = ((version: bigint) => KeptTransaction | undefined) | undefined

export function transactionsOf(state: LedgerState): TransactionOf {
  return hasTransactions(state) ? (version) => transactionAt(state, version) : undefined
}

export const TRANSACTION_SCHEMA: JsonSchema = { $ref: '#/components/schemas/KeptTransaction' }

/** The schema `KeptTransaction` of the document. */
export const KEPT_TRANSACTION_SCHEMA: JsonSchema = {
  type: 'object',
  description: 'The transaction that made the version, if the store keeps transactions.',
  required: ['hash', 'type', 'success', 'sender', 'function'],
  properties: {
    hash: { type: 'string', format: 'hex' },
    type: { type: 'string', description: 'As the API of nodes names it, such as `user_transaction`.' },
    success: { type: 'boolean', description: 'Whether it succeeded; a failed transaction still pays for its gas.' },
    sender: { type: ['string', 'null'], description: 'Address of the user who sent it; null where the chain made it.' },
    function: { type: ['string', 'null'], description: 'The entry function that it called; null if there is none.' },
  },
}

/** A transaction as a member of a change, after a comma; empty if there is none. */
export function transactionMember(transaction: KeptTransaction | undefined): string {
  return transaction ? `,"transaction":${transactionToJson(transaction)}` : ''
}

/** A kept transaction as JSON. */
function transactionToJson({ kind, hash, isSuccess, sender, entryFunction }: KeptTransaction): string {
  const [from, called] = [sender && addressToShortHex(sender), entryFunction]
  const name = called === undefined ? 'null' : `"${called}"`
  return `{"hash":"${bytesToHex(hash)}","type":"${kind}_transaction","success":${isSuccess},"sender":${from ? `"${from}"` : 'null'},"function":${name}}`
}

/** Names of the columns of a transaction, after a comma. */
export const TRANSACTION_COLUMNS = ',transaction,sender,function,success'

/** Cells of the columns of a transaction, after a comma. */
export function transactionToCsv(transaction: KeptTransaction | undefined): string {
  if (!transaction) return ',,,,'
  const { hash, sender, entryFunction, isSuccess } = transaction
  return `,${bytesToHex(hash)},${sender ? addressToShortHex(sender) : ''},${csvCell(entryFunction ?? '')},${isSuccess}`
}
