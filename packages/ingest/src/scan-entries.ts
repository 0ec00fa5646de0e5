import type { KeyedEntry } from '@ledger-state/core'
import type { AsyncStateView, ScanOptions, ScanPage } from '@ledger-state/engine'

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

/** Reads the first page of a scan that has an entry; an empty one if the scan has none. */
export async function scanPage(
  view: AsyncStateView,
  prefix: Uint8Array,
  options: ScanOptions & { readonly limit: number },
): Promise<ScanPage> {
  for (let { start } = options; ; ) {
    const page = await view.scan(prefix, { ...options, start })
    if (page.entries.length > 0 || !page.next) return page
    start = page.next
  }
}
