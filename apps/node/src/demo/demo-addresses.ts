import { hash } from 'node:crypto'

/** The addresses of the demonstration ledger. */
export const HARBOUR = '0xdecaf98bba3d57bd1852e6e200d6a6d168cd8ce646d30dd6d6dcc2362ab9ef15'
export const VISITS = '0x7ab1e1'
export const BERTHS = '0x7ab1e2'
export const PRICES = '0x7ab1e3'
/** Collection of figureheads, one for each ship; they change their owners. Its address follows from creator and name. */
export const FIGUREHEADS = '0x250eeb464baf03ed34bd822eb717acfd600a01589b35447c914991e4e4ec9da2'
/** Tokens of the collection. */
export const FIGUREHEAD_TOKENS: readonly string[] = Array.from({ length: 8 }, (_, at) =>
  objectAddress(`figurehead ${at}`),
)
/** Stores of aptos that change their owners. */
export const VAULTS: readonly string[] = Array.from({ length: 3 }, (_, at) => objectAddress(`vault ${at}`))
export const BEAN = `${HARBOUR}::bean::Bean`
export const APTOS_COIN = '0x1::aptos_coin::AptosCoin'
export const ACCOUNTS = [
  '0xa11cec719696e1a770b994c463ebf3c223f2fed2329a45283e6ce36c248bc9ab',
  '0xb0bafa730e2c2ecb19acccdb15f1bae3ce51689c84109792440a72348bb2dffb',
  '0xca401eed1078e87f3dae505fec17ce6661013d3fcb3744a9fd5462bec664ddaa',
  '0xda7e0541d76a9cab75a3ef1a86178c4022aaf6d4d4caf85aa7ebab9ad3dec21a',
  '0xe1e5bed42c8a8bbb877da2f0cb4eaaad42c464b83d6a3a025033dae75c0e5383',
  '0xf00d11cca702bb235d8d5a9b525153d0a189033bcf529b6f5e575645a99bfd4c',
  '0x9ace8dc4855822923155bf70e651e6f5c0a70d8b0fd43b8f28e016a2556eafc7',
  '0x1eecff930295e5943394fbea6780cc462c862bdc3253a1062c085ecbdf0ce662',
] as const

export const HARBOUR_TYPE = `${HARBOUR}::harbour::Harbour`
export const BERTH_TYPE = `${HARBOUR}::harbour::Berth`
export const SHIP_TYPE = `${HARBOUR}::harbour::Ship`
export const GOOD_TYPE = `${HARBOUR}::harbour::Good`
export const PRICE_TYPE = `${HARBOUR}::harbour::Price`
export const STRING_TYPE = '0x1::string::String'
export const POOL_TYPE = `${HARBOUR}::market::Pool`
/** View function that returns the pool's price for an amount of beans. */
export const QUOTE = `${HARBOUR}::market::quote`

function objectAddress(name: string): string {
  return `0x${hash('sha256', `demonstration ${name}`)}`
}
