import { openStateEngine } from '@ledger-state/state-engine'
import type { Question } from '../workload/workload.ts'
import type { LookupResult, Store } from './store.ts'

/** The state engine. `get` copies each value, `peek` does not. */
export function openEngineStore(path: string) {
  const engine = openStateEngine({ path, durability: 'none' })
  return {
    name: 'engine',
    engine,
    ingest: (versions) => engine.commit(versions, { chainId: 1 }),
    usedBytes() {
      const { fileBytes, freeBytes } = engine.stats
      return fileBytes - freeBytes
    },
    latest(questions) {
      let answer: LookupResult
      const view = engine.at()
      for (const { key } of questions) answer = view.get(key)
      return answer
    },
    latestPeek(questions: readonly Question[]) {
      let answer: LookupResult
      const view = engine.at()
      for (const { key } of questions) answer = view.peek(key)
      return answer
    },
    peekAtVersion(questions: readonly Question[]) {
      let answer: LookupResult
      for (const { key, version } of questions) answer = engine.at(version).peek(key)
      return answer
    },
    atVersion(questions) {
      let answer: LookupResult
      for (const { key, version } of questions) answer = engine.at(version).get(key)
      return answer
    },
    close: () => engine.close(),
  } satisfies Store & { readonly [also: string]: unknown }
}
