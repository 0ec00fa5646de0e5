/** Values as patches of earlier ones of the same length, as segment files have them. */
export { ByteOutput } from './segments/byte-output.js'
export { applyPatch, putPatch } from './segments/patch.js'
