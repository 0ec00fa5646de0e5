import type { RequestExamples } from '@ledger-state/http'
import {
  ACCOUNTS,
  APTOS_COIN,
  BEAN,
  FIGUREHEADS,
  GOOD_TYPE,
  HARBOUR,
  HARBOUR_TYPE,
  PRICE_TYPE,
  PRICES,
} from './demo-addresses.js'
import { DEMO_VIEW } from './demo-examples.js'

const HOLDER = { address: ACCOUNTS[0] }
const MAKER = { address: HARBOUR }
const BALANCE = { ...HOLDER, asset_type: APTOS_COIN }
const TABLE = { table_handle: PRICES }
const TEA = { key_type: GOOD_TYPE, value_type: PRICE_TYPE, key: { Tea: {} } }
const RAW_TEA = { key: '0x01' }

/**
 * A request for each operation that takes more than its path. The demonstration ledger answers it with data to look at.
 */
export const DEMO_REQUESTS: RequestExamples = {
  get_table_item: { parameters: TABLE, body: TEA },
  get_raw_table_item: { parameters: TABLE, body: RAW_TEA },
  get_table_items: { parameters: { ...TABLE, holder: HARBOUR } },
  get_account_balance: { parameters: BALANCE },
  get_account: { parameters: HOLDER },
  get_account_resources: { parameters: HOLDER },
  get_account_resource: { parameters: { ...MAKER, resource_type: HARBOUR_TYPE } },
  get_account_modules: { parameters: MAKER },
  get_account_module: { parameters: { ...MAKER, module_name: 'harbour' } },
  get_block_by_height: { parameters: { block_height: '200' } },
  get_block_by_version: { parameters: { version: '1500' } },
  // State key of an item of the table of prices, in BCS.
  get_raw_state_value: { body: { key: `0x01${PRICES.slice(2).padStart(64, '0')}0101` } },
  view: { body: DEMO_VIEW },
  get_view_history: { body: DEMO_VIEW },
  get_account_balance_history: { parameters: BALANCE },
  get_account_resource_history: { parameters: { ...HOLDER, resource_type: `0x1::coin::CoinStore<${BEAN}>` } },
  get_table_item_history: { parameters: TABLE, body: TEA },
  get_raw_table_item_history: { parameters: TABLE, body: RAW_TEA },
  get_account_changes: { parameters: HOLDER },
  get_account_balances: { parameters: HOLDER },
  get_account_objects: { parameters: HOLDER },
  get_account_activities: { parameters: { ...HOLDER, limit: '10' } },
  get_asset_holders: { parameters: { asset_type: BEAN } },
  get_collection_tokens: { parameters: { address: FIGUREHEADS } },
  get_type_uses: { parameters: { struct_type: BEAN } },
  get_table_items_batch: { body: { requests: [{ ...TABLE, ...TEA }] } },
  get_balances_batch: { body: { requests: [BALANCE] } },
  get_resources_batch: { body: { requests: [{ ...MAKER, resource_type: HARBOUR_TYPE }] } },
  batch: {
    body: {
      requests: [
        { path: `/v1/accounts/${ACCOUNTS[0]}` },
        { path: `/v1/accounts/${ACCOUNTS[0]}/balance/${APTOS_COIN}/history?limit=1` },
        { path: '/v1/blocks/by_version/1500' },
        { path: `/v1/tables/${PRICES}/item`, body: TEA },
      ],
    },
  },
}
