export { type BcsTypeCodec, bcsTypeToCodec, layoutToBcsType } from './mysten/bcs-type.js'
