/** A request to send to a service. */
export interface RequestExample {
  /** Path, from `/v1` on, and query. */
  readonly target: string
  /** Sent as JSON. */
  readonly body?: object
  /** The command of a shell that prints an answer which is not text. */
  readonly pipe?: string
}

/** Examples by the id of the operation. */
export type RequestExamples = Readonly<Record<string, RequestExample>>

const ACCOUNT = '/v1/accounts/0x1'
const ONE = '1'.padStart(64, '0')
const COIN = '0x1::aptos_coin::AptosCoin'
const TABLE = '/v1/tables/0xabc'
const KEY = { key_type: 'u64', value_type: 'u64', key: '1' }
const RAW_KEY = { key: '0x0100000000000000' }

/** Requests that every ledger understands, with an example for each operation. Where it has no such state, it says so. */
export const NEUTRAL_EXAMPLES: RequestExamples = {
  get_table_item: { target: `${TABLE}/item`, body: KEY },
  get_raw_table_item: { target: `${TABLE}/raw_item`, body: RAW_KEY, pipe: 'od -c' },
  get_table_items: { target: `${TABLE}/items?key_type=u64&value_type=u64` },
  get_account_balance: { target: `${ACCOUNT}/balance/${COIN}` },
  get_account: { target: ACCOUNT },
  get_account_resources: { target: `${ACCOUNT}/resources` },
  get_account_resource: { target: `${ACCOUNT}/resource/0x1::account::Account` },
  get_account_modules: { target: `${ACCOUNT}/modules?limit=1` },
  get_account_module: { target: `${ACCOUNT}/module/coin` },
  get_block_by_height: { target: '/v1/blocks/by_height/0' },
  get_block_by_version: { target: '/v1/blocks/by_version/0' },
  view: { target: '/v1/view', body: { function: '0x1::coin::balance', type_arguments: [COIN], arguments: ['0x1'] } },
  get_raw_state_value: {
    target: '/v1/experimental/state_values/raw',
    // The state key of the module 0x1::coin.
    body: { key: `0x00${ONE}2600${ONE}04636f696e` },
    pipe: 'od -c',
  },
  get_account_balance_history: { target: `${ACCOUNT}/balance/${COIN}/history?limit=3` },
  get_account_resource_history: { target: `${ACCOUNT}/resource/0x1::account::Account/history?limit=3` },
  get_table_item_history: { target: `${TABLE}/item/history?limit=3`, body: KEY },
  get_raw_table_item_history: { target: `${TABLE}/raw_item/history?limit=3`, body: RAW_KEY },
  get_view_history: {
    target: '/v1/view/history?limit=3',
    body: { function: '0x1::coin::balance', type_arguments: [COIN], arguments: ['0x1'] },
  },
  get_account_changes: { target: `${ACCOUNT}/changes?from=0` },
  get_type_uses: { target: '/v1/types/0x1::coin::Coin/uses' },
  get_table_items_batch: {
    target: '/v1/tables/items:batch',
    body: { requests: [{ table_handle: '0xabc', ...KEY }] },
  },
  get_balances_batch: { target: '/v1/balances:batch', body: { requests: [{ address: '0x1', asset_type: COIN }] } },
  get_resources_batch: {
    target: '/v1/resources:batch',
    body: { requests: [{ address: '0x1', resource_type: '0x1::account::Account' }] },
  },
  batch: {
    target: '/v1/batch',
    body: { requests: [{ path: ACCOUNT }, { path: `${TABLE}/item`, body: KEY }] },
  },
  get_ledger_info: { target: '/v1' },
  info: { target: '/v1/info' },
  trust: { target: '/v1/-/trust' },
  get_slice: { target: '/v1/-/slice' },
  get_epoch_endings: { target: '/v1/-/epoch_endings' },
  estimate_gas_price: { target: '/v1/estimate_gas_price' },
  healthy: { target: '/v1/-/healthy' },
}
