// Apart from the service, which a program that only reads its settings need not load.

export { DEFAULT_LIMITS } from './admission/limits.js'
export { FORWARD_KINDS, type ForwardKind } from './forward/forward-options.js'
