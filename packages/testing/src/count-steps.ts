import { Session } from 'node:inspector'
import { setFlagsFromString } from 'node:v8'

interface CoverageRange {
  readonly count: number
}

interface ScriptCoverage {
  readonly url: string
  readonly functions: readonly { readonly ranges: readonly CoverageRange[] }[]
}

export interface StepCounter {
  /**
   * Counts how often synchronous work enters blocks of the sources in `packages/`. The same work has the same number on
   * any machine and under any load, so its growth can be asserted, unlike the growth of a time. V8 merges blocks that
   * are entered equally often, and work inside functions of the runtime does not count.
   */
  count(work: () => void): number
  /** Steps since the last call. Reading the counters takes 2 ms: for work in turns, one call after each is enough. */
  stepsSinceLast(): number
  stop(): void
}

/**
 * Makes a counter out of the coverage counters of V8. Make it before the work is called for the first time: functions
 * that were called earlier have no counters. Until it stops, no thread of the process optimizes code, because optimized
 * code inlines calls without counting them.
 */
export function createStepCounter(): StepCounter {
  for (const tier of OPTIMIZING_TIERS) setFlagsFromString(`--no-${tier}`)
  const session = new Session()
  session.connect()
  post(session, 'Profiler.enable')
  post(session, 'Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  const take = () => post<{ result: readonly ScriptCoverage[] }>(session, 'Profiler.takePreciseCoverage').result
  const stepsSinceLast = (): number => {
    let steps = 0
    for (const { url, functions } of take()) {
      if (!OUR_SOURCES.test(url)) continue
      for (const { ranges } of functions) for (const { count } of ranges) steps += count
    }
    return steps
  }
  return {
    count(work) {
      stepsSinceLast()
      work()
      return stepsSinceLast()
    },
    stepsSinceLast,
    stop() {
      session.disconnect()
      for (const tier of OPTIMIZING_TIERS) setFlagsFromString(`--${tier}`)
    },
  }
}

const OPTIMIZING_TIERS = ['maglev', 'turbofan']

const OUR_SOURCES = /\/packages\/[a-z-]+\/(src|dist)\//

/** Sends a command to the inspector, which answers before `post` returns. */
function post<T>(session: Session, method: string, parameters?: object): T {
  let answer: T | undefined
  let fault: Error | null = null
  session.post(method, parameters, (error: Error | null, result?: object) => {
    fault = error
    answer = result as T
  })
  if (fault) throw fault
  return answer!
}
