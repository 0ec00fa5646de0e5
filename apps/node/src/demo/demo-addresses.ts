/** The addresses of the demonstration ledger. */
export const HARBOUR = '0xdecaf'
export const VISITS = '0x7ab1e1'
export const BERTHS = '0x7ab1e2'
export const PRICES = '0x7ab1e3'
/** Collection of figureheads, one for each ship. */
export const FIGUREHEADS = '0xf16'
export const BEAN = '0xdecaf::bean::Bean'
export const APTOS_COIN = '0x1::aptos_coin::AptosCoin'
export const ACCOUNTS = ['0xa11ce', '0xb0b', '0xca401', '0xda7e', '0xe1e', '0xf00d', '0x9ace', '0x1ee'] as const

export const HARBOUR_TYPE = '0xdecaf::harbour::Harbour'
export const BERTH_TYPE = '0xdecaf::harbour::Berth'
export const SHIP_TYPE = '0xdecaf::harbour::Ship'
export const GOOD_TYPE = '0xdecaf::harbour::Good'
export const PRICE_TYPE = '0xdecaf::harbour::Price'
export const STRING_TYPE = '0x1::string::String'
export const POOL_TYPE = '0xdecaf::market::Pool'
/** View function that returns the pool's price for an amount of beans. */
export const QUOTE = '0xdecaf::market::quote'
