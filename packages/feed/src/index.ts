export { parseGenesis } from './genesis.js'
export { openSource } from './open-source.js'
export type { LedgerSource, SourceProgress } from './source.js'
