import { keyAfter } from '@ledger-state/core/bytes'
import type { AsyncSnapshot, AsyncStateView } from '@ledger-state/engine'

/** A snapshot with the shortest pages of scans: each has one entry, or none and the key of the next entry. */
export function withShortPages(snapshot: AsyncSnapshot): AsyncSnapshot {
  return { ...snapshot, at: (version) => shortView(snapshot.at(version)) }
}

function shortView(view: AsyncStateView): AsyncStateView {
  return {
    ...view,
    async scan(prefix, { start, limit } = {}) {
      const { entries } = await view.scan(prefix, { start, limit: 1 })
      const [entry] = entries
      if (!entry) return { entries, next: undefined }
      if (!start || Buffer.compare(entry.key, start) > 0) return { entries: [], next: entry.key }
      return { entries, next: limit === 1 ? undefined : keyAfter(entry.key) }
    },
  }
}
