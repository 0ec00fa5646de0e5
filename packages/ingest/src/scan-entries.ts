import type { KeyedEntry } from '@ledger-state/core'
import type { AsyncStateView, ScanOptions } from '@ledger-state/engine'

/** Reads the first `limit` entries of a scan; fewer only if it has fewer. A page of it may have few, or none. */
export async function scanEntries(
  view: AsyncStateView,
  prefix: Uint8Array,
  { start, limit }: ScanOptions & { readonly limit: number },
): Promise<readonly KeyedEntry[]> {
  const found: KeyedEntry[] = []
  for (let from = start; ; ) {
    const { entries, next } = await view.scan(prefix, { start: from, limit: limit - found.length })
    found.push(...entries)
    if (!next || found.length === limit) return found
    from = next
  }
}
