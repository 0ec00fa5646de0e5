// Apart from the service, which a program that only reads its settings need not load.
export { FORWARD_KINDS, type ForwardKind } from './forward/forward-options.js'
export { DEFAULT_LIMITS } from './server/default-limits.js'
