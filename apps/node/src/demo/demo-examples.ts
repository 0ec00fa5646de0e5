import { ByteWriter, bytesToHex } from '@ledger-state/core'
import { ACCOUNTS, APTOS_COIN, GOOD_TYPE, HARBOUR, PRICE_TYPE, PRICES, VISITS } from './demo-addresses.js'

/** A version in the middle of the window, long before the newest. */
const OLD_VERSION = 1_500
/** About when it was written. */
const OLD_TIME = '2025-01-01T00:12:30Z'
/** A version that wrote the note of a ship's visit, and the key of the note. */
const VISIT_VERSION = 2_985n

/** One read of each kind, as a line for a shell. */
export function demoCurlLines(address: string): string[] {
  const json = `-H 'content-type: application/json'`
  const visitKey = bytesToHex(new ByteWriter().u64(VISIT_VERSION).toBytes())
  const item = JSON.stringify({ key_type: GOOD_TYPE, value_type: PRICE_TYPE, key: { Coffee: {} } })
  const view = JSON.stringify({
    function: '0x1::coin::balance',
    type_arguments: [APTOS_COIN],
    arguments: [ACCOUNTS[0]],
  })
  const balance = `${address}/v1/accounts/${ACCOUNTS[0]}/balance/${APTOS_COIN}`
  return [
    `curl ${balance}`,
    `curl '${balance}?ledger_timestamp=${OLD_TIME}'`,
    `curl '${balance}/history?limit=3'`,
    `curl '${balance}/history?limit=3' -H 'accept: text/csv'`,
    `curl '${address}/v1/accounts/${ACCOUNTS[0]}/changes?from=${OLD_VERSION}'`,
    `curl ${address}/v1/accounts/${HARBOUR}/resources`,
    `curl '${address}/v1/accounts/${HARBOUR}/modules?limit=1'`,
    `curl '${address}/v1/tables/${PRICES}/items?holder=${HARBOUR}'`,
    `curl ${address}/v1/blocks/by_version/${OLD_VERSION}`,
    `curl ${address}/v1/view ${json} -d '${view}'`,
    `curl '${address}/v1/tables/${PRICES}/item?ledger_version=${OLD_VERSION}' ${json} -d '${item}'`,
    `curl -s ${address}/v1/tables/${VISITS}/raw_item ${json} -d '{"key":"${visitKey}"}' | od -c`,
  ]
}
