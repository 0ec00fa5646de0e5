import { useEffect, useState } from 'preact/hooks'
import { ask } from '../api/client.ts'
import { untilAnswered } from './until-answered.ts'

/** A read that every store answers at every time of its window, also one that keeps only part of the ledger. */
const ANY_READ = '/-/slice?limit=1'

/** The versions that the ledger had at times as RFC 3339. Known answers do not change. */
export function useVersionsAt(times: readonly string[]): ReadonlyMap<string, string> {
  const [known, setKnown] = useState<ReadonlyMap<string, string>>(new Map())
  useEffect(() => {
    const stop = new AbortController()
    const load = async (): Promise<void> => {
      for (const at of times.filter((one) => !known.has(one))) {
        const result = await untilAnswered(() => ask<unknown>({ path: ANY_READ, at }, stop.signal), stop.signal)
        const version = 'value' in result ? result.answer.readVersion : undefined
        if (version !== undefined) setKnown((before) => new Map(before).set(at, version))
      }
    }
    load().catch(() => {})
    return () => stop.abort()
  }, [times.join()])
  return known
}
