import { LedgerHasher } from '../proof/ledger-hasher.js'
import type { LedgerSource, SourceOptions } from './source.js'
import { Voucher } from './voucher.js'
import type { Vouching } from './vouching.js'

/** Opens the ends of epochs of a backup, which hold no versions: reading them proves the validators of the epochs. */
export function openEpochEndings(root: string, options: SourceOptions): LedgerSource {
  const voucher = new Voucher(root, new LedgerHasher(options.hashSalt), options)
  let vouching: Vouching | undefined
  return {
    description: 'backup of ends of epochs',
    chainId: undefined,
    position: root,
    mark: undefined,
    get vouching() {
      return vouching
    },
    progress: { done: 0, total: 0, unit: 'versions' },
    // biome-ignore lint/correctness/useYield: it holds no versions
    async *versions() {
      vouching = await voucher.vouchForAll()
    },
    async close() {},
  }
}
