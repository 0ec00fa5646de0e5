import { ACCOUNTS, APTOS_COIN, GOOD_TYPE, HARBOUR, HARBOUR_TYPE, PRICE_TYPE, PRICES, QUOTE } from './demo-addresses.js'

/** A version in the middle of the window, long before the newest. */
const OLD_VERSION = 1_500
/** Approximate time of `OLD_VERSION`. */
const OLD_TIME = '2025-01-01T00:12:30Z'
/** A version shortly before the newest. */
const RECENT_VERSION = 2_990

/** Page of a balance with a curve, for visitors who see the explorer for the first time. */
export const DEMO_PAGE = `/balance/${ACCOUNTS[0]}/${APTOS_COIN}`

/** A call for 1,000 beans, which have three decimals. */
export const DEMO_VIEW = { function: QUOTE, type_arguments: [], arguments: ['1000000'] }

/** A read of the demonstration ledger, with a shell command that sends it. */
interface DemoExample {
  readonly reads: string
  readonly line: string
}

/** First reads to try; `DEMO_REQUESTS` has one of every operation. `address` is the server's, without a path. */
export function demoExamples(address: string): DemoExample[] {
  const account = `${address}/v1/accounts/${ACCOUNTS[0]}`
  const harbour = `${address}/v1/accounts/${HARBOUR}`
  const prices = `${address}/v1/tables/${PRICES}`
  const item = JSON.stringify({ key_type: GOOD_TYPE, value_type: PRICE_TYPE, key: { Coffee: {} } })
  return [
    { reads: 'a balance', line: get(`${account}/balance/${APTOS_COIN}`) },
    { reads: 'the same at a time', line: get(`${account}/balance/${APTOS_COIN}?ledger_timestamp=${OLD_TIME}`) },
    {
      reads: 'its history, as CSV',
      line: `${get(`${account}/balance/${APTOS_COIN}/history?limit=5`)} -H 'accept: text/csv'`,
    },
    {
      reads: `the changes of an account since version ${RECENT_VERSION}`,
      line: get(`${account}/changes?from=${RECENT_VERSION}`),
    },
    { reads: 'a resource', line: get(`${harbour}/resource/${HARBOUR_TYPE}`) },
    { reads: 'a module with its ABI', line: get(`${harbour}/module/harbour`) },
    {
      reads: `a table item at version ${OLD_VERSION}`,
      line: post(`${prices}/item?ledger_version=${OLD_VERSION}`, item),
    },
    {
      reads: `the price that the pool would have paid for 1,000 beans at version ${OLD_VERSION}, by a view function`,
      line: post(`${address}/v1/view?ledger_version=${OLD_VERSION}`, JSON.stringify(DEMO_VIEW)),
    },
    { reads: 'all items of the table', line: get(`${prices}/items?holder=${HARBOUR}`) },
  ]
}

function get(url: string): string {
  return `curl '${url}'`
}

function post(url: string, body: string): string {
  return `curl '${url}' -H 'content-type: application/json' -d '${body}'`
}
