import type { RequestExamples } from '@ledger-state/http'
import { ACCOUNTS, APTOS_COIN, BEAN, GOOD_TYPE, HARBOUR, HARBOUR_TYPE, PRICE_TYPE, PRICES } from './demo-addresses.js'
import { DEMO_VIEW } from './demo-examples.js'

const HOLDER = `/v1/accounts/${ACCOUNTS[0]}`
const MAKER = `/v1/accounts/${HARBOUR}`
const TABLE = `/v1/tables/${PRICES}`
const TEA = { key_type: GOOD_TYPE, value_type: PRICE_TYPE, key: { Tea: {} } }

/** A request for each operation that the demonstration ledger answers with something to see. */
export const DEMO_REQUESTS: RequestExamples = {
  get_table_item: { target: `${TABLE}/item?ledger_version=1500`, body: TEA },
  get_raw_table_item: { target: `${TABLE}/raw_item`, body: { key: '0x01' }, pipe: 'od -c' },
  get_table_items: { target: `${TABLE}/items?holder=${HARBOUR}` },
  get_account_balance: { target: `${HOLDER}/balance/${APTOS_COIN}?ledger_timestamp=2025-01-01T00:12:30Z` },
  get_account: { target: HOLDER },
  get_account_resources: { target: `${HOLDER}/resources` },
  get_account_resource: { target: `${MAKER}/resource/${HARBOUR_TYPE}` },
  get_account_modules: { target: `${MAKER}/modules?limit=1` },
  get_account_module: { target: `${MAKER}/module/harbour` },
  get_block_by_height: { target: '/v1/blocks/by_height/200' },
  get_block_by_version: { target: '/v1/blocks/by_version/1500' },
  get_raw_state_value: {
    target: '/v1/experimental/state_values/raw',
    // The state key of an item of the table of prices, in BCS.
    body: { key: `0x01${PRICES.slice(2).padStart(64, '0')}0101` },
    pipe: 'od -c',
  },
  view: { target: '/v1/view?ledger_version=1500', body: DEMO_VIEW },
  get_view_history: { target: '/v1/view/history?limit=3', body: DEMO_VIEW },
  get_account_balance_history: { target: `${HOLDER}/balance/${APTOS_COIN}/history?limit=3` },
  get_account_resource_history: {
    target: `${HOLDER}/resource/0x1::coin::CoinStore%3C${BEAN}%3E/history?limit=3`,
  },
  get_table_item_history: { target: `${TABLE}/item/history?limit=3`, body: TEA },
  get_raw_table_item_history: { target: `${TABLE}/raw_item/history?limit=3`, body: { key: '0x01' } },
  get_account_changes: { target: `${HOLDER}/changes?from=2900` },
  get_type_uses: { target: `/v1/types/${BEAN}/uses?limit=3` },
  get_table_items_batch: {
    target: '/v1/tables/items:batch',
    body: { requests: [{ table_handle: PRICES, ...TEA }] },
  },
  get_balances_batch: {
    target: '/v1/balances:batch',
    body: { requests: [{ address: ACCOUNTS[0], asset_type: APTOS_COIN }] },
  },
  get_resources_batch: {
    target: '/v1/resources:batch',
    body: { requests: [{ address: HARBOUR, resource_type: HARBOUR_TYPE }] },
  },
  batch: {
    target: '/v1/batch?ledger_version=1500',
    body: {
      requests: [
        { path: HOLDER },
        { path: `${HOLDER}/balance/${APTOS_COIN}/history?limit=1` },
        { path: '/v1/blocks/by_version/1500' },
        { path: `${TABLE}/item`, body: TEA },
      ],
    },
  },
  get_ledger_info: { target: '/v1' },
  info: { target: '/v1/info' },
  trust: { target: '/v1/-/trust' },
  get_slice: { target: '/v1/-/slice' },
  get_epoch_endings: { target: '/v1/-/epoch_endings' },
  estimate_gas_price: { target: '/v1/estimate_gas_price' },
  healthy: { target: '/v1/-/healthy' },
}
