import type { Native } from './native.js'

/** The native functions, by `0xADDRESS::module::function` with a short address. */
export const NATIVES: ReadonlyMap<string, Native> = new Map()
