import { ByteWriter, bytesToHex } from '@ledger-state/core'
import { ACCOUNTS, APTOS_COIN, GOOD_TYPE, PRICE_TYPE, PRICES, VISITS } from './demo-addresses.js'

/** A version in the middle of the window, long before the newest. */
const OLD_VERSION = 1_500
/** A version that wrote the note of a ship's visit, and the key of the note. */
const VISIT_VERSION = 2_985n

/** One read of each kind, as a line for a shell. */
export function demoCurlLines(address: string): string[] {
  const json = `-H 'content-type: application/json'`
  const visitKey = bytesToHex(new ByteWriter().u64(VISIT_VERSION).toBytes())
  const item = JSON.stringify({ key_type: GOOD_TYPE, value_type: PRICE_TYPE, key: { Coffee: {} } })
  return [
    `curl ${address}/v1/accounts/${ACCOUNTS[0]}/balance/${APTOS_COIN}`,
    `curl '${address}/v1/tables/${PRICES}/item?ledger_version=${OLD_VERSION}' ${json} -d '${item}'`,
    `curl -s ${address}/v1/tables/${VISITS}/raw_item ${json} -d '{"key":"${visitKey}"}' | od -c`,
  ]
}
