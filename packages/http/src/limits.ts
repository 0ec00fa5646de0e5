// Apart from the service, which a program that only reads its settings need not load.
export { DEFAULT_LIMITS } from './server/default-limits.js'
