// Version 7 of the SDK remembers ledger infos, modules and ABIs by the name of a network, for all clients of a process.
// The test files of a worker share a process, and their ledgers share the names: each file begins with nothing remembered.
const memory = new URL('utils/memoize.js', import.meta.resolve('aptos-ts-sdk-7'))
const { clearMemoizeCache } = (await import(memory.href)) as { clearMemoizeCache: () => void }
clearMemoizeCache()
