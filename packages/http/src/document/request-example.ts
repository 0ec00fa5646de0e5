/** A request to send to an operation of a service. */
export interface RequestExample {
  /** Values of its parameters, by name. Forms begin with them, so give only those without which the answer is empty. */
  readonly parameters?: Readonly<Record<string, string>>
  /** Body that is sent as JSON. */
  readonly body?: object
}

/** Requests by the id of their operation. */
export type RequestExamples = Readonly<Record<string, RequestExample>>

const ADDRESS = { address: '0x1' }
const ONE = '1'.padStart(64, '0')
const COIN = '0x1::aptos_coin::AptosCoin'
const BALANCE = { ...ADDRESS, asset_type: COIN }
const RESOURCE = { ...ADDRESS, resource_type: '0x1::account::Account' }
const TABLE = { table_handle: '0xabc' }
const TYPES = { key_type: 'u64', value_type: 'u64' }
const ITEM = { ...TYPES, key: '1' }
const RAW_ITEM = { key: '0x0100000000000000' }
const DOCUMENT = '{ current_fungible_asset_balances(where: {owner_address: {_eq: "0x1"}}) { asset_type amount } }'
const VIEW = { function: '0x1::coin::balance', type_arguments: [COIN], arguments: ['0x1'] }

/**
 * Examples that every ledger understands, for operations that take more than their path. A ledger without the state of
 * an example answers that it has none.
 */
export const NEUTRAL_EXAMPLES: RequestExamples = {
  get_table_item: { parameters: TABLE, body: ITEM },
  get_raw_table_item: { parameters: TABLE, body: RAW_ITEM },
  get_table_items: { parameters: { ...TABLE, ...TYPES } },
  get_account_balance: { parameters: BALANCE },
  get_account: { parameters: ADDRESS },
  get_account_resources: { parameters: ADDRESS },
  get_account_resource: { parameters: RESOURCE },
  get_account_modules: { parameters: ADDRESS },
  get_account_module: { parameters: { ...ADDRESS, module_name: 'coin' } },
  get_block_by_height: { parameters: { block_height: '0' } },
  get_block_by_version: { parameters: { version: '0' } },
  get_transaction_by_version: { parameters: { txn_version: '0' } },
  get_transaction_by_hash: { parameters: { txn_hash: `0x${ONE}` } },
  wait_transaction_by_hash: { parameters: { txn_hash: `0x${ONE}` } },
  get_transactions_auxiliary_info: { parameters: { start_version: '0' } },
  get_account_transactions: { parameters: ADDRESS },
  get_account_transaction_summaries: { parameters: ADDRESS },
  get_events_by_creation_number: { parameters: { ...ADDRESS, creation_number: '0' } },
  get_affecting_transactions: { parameters: ADDRESS },
  get_events_by_type: { parameters: { event_type: '0x1::block::NewBlockEvent' } },
  get_events_by_event_handle: {
    parameters: { ...ADDRESS, event_handle: '0x1::block::BlockResource', field_name: 'new_block_events' },
  },
  view: { body: VIEW },
  // State key of the module 0x1::coin.
  get_raw_state_value: { body: { key: `0x00${ONE}2600${ONE}04636f696e` } },
  get_account_balance_history: { parameters: BALANCE },
  get_account_resource_history: { parameters: RESOURCE },
  get_table_item_history: { parameters: TABLE, body: ITEM },
  get_raw_table_item_history: { parameters: TABLE, body: RAW_ITEM },
  get_view_history: { body: VIEW },
  get_account_changes: { parameters: ADDRESS },
  get_type_uses: { parameters: { struct_type: '0x1::coin::Coin' } },
  get_account_balances: { parameters: ADDRESS },
  get_account_objects: { parameters: ADDRESS },
  get_account_activities: { parameters: ADDRESS },
  get_asset_holders: { parameters: { asset_type: COIN } },
  get_collection_tokens: { parameters: ADDRESS },
  graphql: { body: { query: DOCUMENT } },
  get_table_items_batch: { body: { requests: [{ ...TABLE, ...ITEM }] } },
  get_balances_batch: { body: { requests: [BALANCE] } },
  get_resources_batch: { body: { requests: [RESOURCE] } },
  batch: { body: { requests: [{ path: '/v1/accounts/0x1' }, { path: '/v1/tables/0xabc/item', body: ITEM }] } },
}

/** Path and query of a request. Values that the path names as `{name}` go into the path, all others into the query. */
export function exampleTarget(path: string, values: RequestExample['parameters'] = {}): string {
  const query = new URLSearchParams()
  let filled = path
  for (const [name, value] of Object.entries(values)) {
    const place = `{${name}}`
    if (path.includes(place)) filled = filled.replace(place, () => encodeURIComponent(value).replaceAll('%3A', ':'))
    else query.set(name, value)
  }
  return query.size === 0 ? filled : `${filled}?${query}`
}
