// Keeping a slice while a source is ingested: it needs Node.js.
export { sourceKeepsSlice } from './errors.js'
export { SliceFilter, type SliceOptions } from './keep/slice-filter.js'
export type { PassOptions } from './keep/state-slice.js'
export type { SliceableSource, StateSource } from './keep/state-source.js'
export { SlicedImport } from './take/sliced-import.js'
