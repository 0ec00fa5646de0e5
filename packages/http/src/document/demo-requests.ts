/** A request that the demonstration ledger answers with something to see. */
interface DemoRequest {
  /** Path and query. */
  readonly target: string
  readonly body?: object
  /** What curl does with bytes. */
  readonly pipe?: string
}

const HOLDER = '/v1/accounts/0xa11ce'
const COIN = '0x1::aptos_coin::AptosCoin'
const PRICES = '/v1/tables/0x7ab1e3'
const TEA = { key_type: '0xdecaf::harbour::Good', value_type: '0xdecaf::harbour::Price', key: { Tea: {} } }

/** By the id of the operation. */
const REQUESTS: Readonly<Record<string, DemoRequest>> = {
  get_table_item: { target: `${PRICES}/item?ledger_version=1500`, body: TEA },
  get_raw_table_item: { target: `${PRICES}/raw_item`, body: { key: '0x01' }, pipe: 'od -c' },
  get_table_items: { target: `${PRICES}/items?holder=0xdecaf` },
  get_account_balance: { target: `${HOLDER}/balance/${COIN}?ledger_timestamp=2025-01-01T00:12:30Z` },
  get_account: { target: HOLDER },
  get_account_resources: { target: `${HOLDER}/resources` },
  get_account_resource: { target: '/v1/accounts/0xdecaf/resource/0xdecaf::harbour::Harbour' },
  get_account_modules: { target: '/v1/accounts/0xdecaf/modules?limit=1' },
  get_account_module: { target: '/v1/accounts/0xdecaf/module/harbour' },
  get_block_by_height: { target: '/v1/blocks/by_height/200' },
  get_block_by_version: { target: '/v1/blocks/by_version/1500' },
  view: {
    target: '/v1/view',
    body: { function: '0x1::coin::balance', type_arguments: [COIN], arguments: ['0xa11ce'] },
  },
  get_account_balance_history: { target: `${HOLDER}/balance/${COIN}/history?limit=3` },
  get_account_resource_history: {
    target: `${HOLDER}/resource/0x1::coin::CoinStore%3C0xdecaf::bean::Bean%3E/history?limit=3`,
  },
  get_table_item_history: { target: `${PRICES}/item/history?limit=3`, body: TEA },
  get_raw_table_item_history: { target: `${PRICES}/raw_item/history?limit=3`, body: { key: '0x01' } },
  get_account_changes: { target: `${HOLDER}/changes?from=2900` },
  get_table_items_batch: {
    target: '/v1/tables/items:batch',
    body: { requests: [{ table_handle: '0x7ab1e3', ...TEA }] },
  },
  get_balances_batch: { target: '/v1/balances:batch', body: { requests: [{ address: '0xa11ce', asset_type: COIN }] } },
  get_resources_batch: {
    target: '/v1/resources:batch',
    body: { requests: [{ address: '0xdecaf', resource_type: '0xdecaf::harbour::Harbour' }] },
  },
  batch: {
    target: '/v1/batch?ledger_version=1500',
    body: {
      requests: [
        { path: HOLDER },
        { path: `${HOLDER}/balance/${COIN}/history?limit=1` },
        { path: '/v1/blocks/by_version/1500' },
        { path: `${PRICES}/item`, body: TEA },
      ],
    },
  },
  get_ledger_info: { target: '/v1' },
  healthy: { target: '/v1/-/healthy' },
}

/** Where a node listens unless it is told otherwise. */
const DEFAULT_ADDRESS = 'http://127.0.0.1:8080'

/** A line for a shell that asks the demonstration ledger. */
export function demoCurlLine(operationId: string): string | undefined {
  const request = REQUESTS[operationId]
  if (!request) return undefined
  const { target, body, pipe } = request
  const data = body ? ` -H 'content-type: application/json' -d '${JSON.stringify(body)}'` : ''
  return `curl -s '${DEFAULT_ADDRESS}${target}'${data}${pipe ? ` | ${pipe}` : ''}`
}
