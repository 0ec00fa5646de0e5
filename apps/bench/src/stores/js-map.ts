import type { LookupResult, Store } from './store.ts'

interface KeyWrites {
  readonly versions: bigint[]
  readonly values: (Uint8Array | null)[]
}

/** A JavaScript Map of sorted arrays, in memory and not durable: a limit that no store can reach. */
export function openJsMap(): Store {
  const histories = new Map<string, KeyWrites>()
  const textOf = (key: Uint8Array) => Buffer.prototype.latin1Slice.call(key, 0, key.length)
  let bytes = 0
  function read(key: Uint8Array, version: bigint | undefined): LookupResult {
    const history = histories.get(textOf(key))
    if (!history) return undefined
    const { versions, values } = history
    if (version === undefined) return values.at(-1) ?? undefined
    let low = 0
    let high = versions.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (versions[middle]! <= version) low = middle + 1
      else high = middle
    }
    return values[low - 1] ?? undefined
  }
  return {
    name: 'JavaScript Map',
    ingest(batch) {
      for (const { version, writes } of batch) {
        for (const [key, value] of writes) {
          const text = textOf(key)
          const history = histories.get(text) ?? { versions: [], values: [] }
          history.versions.push(version)
          history.values.push(value && Uint8Array.from(value))
          histories.set(text, history)
          bytes += value?.length ?? 0
        }
      }
    },
    usedBytes: () => bytes,
    latest(questions) {
      let answer: LookupResult
      for (const { key } of questions) answer = read(key, undefined)
      return answer
    },
    atVersion(questions) {
      let answer: LookupResult
      for (const { key, version } of questions) answer = read(key, version)
      return answer
    },
    close() {
      histories.clear()
    },
  }
}
