// A separate entry point, so that a program that only reads its settings need not load the service.

export { DEFAULT_LIMITS } from './admission/limits.js'
export { FORWARD_KINDS, type ForwardKind } from './forward/forward-options.js'
