import { isLedgerStateError } from '@ledger-state/core'
import { overriding } from '@ledger-state/testing/overriding'
import type { LedgerSummary } from '../../src/ports/state-port.ts'
import { type BrokenEngine, broken, brokenView, endingEarly, type StateWriter } from './break-engine.ts'

type Truncate = StateWriter['truncateTo']

function brokenTruncation(
  fault: string,
  replace: (truncateTo: Truncate, engine: StateWriter) => Truncate,
): BrokenEngine {
  return broken(fault, (engine) => ({ truncateTo: replace((...given) => engine.truncateTo(...given), engine) }))
}

/** Makes an engine that reports another ledger than it has. */
function brokenLedger(fault: string, change: (ledger: LedgerSummary) => LedgerSummary): BrokenEngine {
  return broken(fault, (engine) => ({
    get ledger() {
      return engine.ledger && change(engine.ledger)
    },
  }))
}

/** Asks the present branch instead if the version was cut off. */
function answeringAnyway<T>(ask: () => T, again: () => T): T {
  try {
    return ask()
  } catch (error) {
    if (!isLedgerStateError(error, 'version_truncated')) throw error
    return again()
  }
}

/** Continues a list in the present branch after the items that were read already. */
function* goingOn<T>(items: Iterable<T>, again: () => Iterable<T>): Generator<T> {
  let count = 0
  try {
    for (const item of items) {
      count++
      yield item
    }
  } catch (error) {
    if (!isLedgerStateError(error, 'version_truncated')) throw error
    for (const item of again()) if (count-- <= 0) yield item
  }
}

export const BROKEN_TRUNCATIONS: readonly BrokenEngine[] = [
  brokenTruncation('cuts one version too many', (truncateTo, engine) => (version, options) => {
    const isMoreLeft = typeof version === 'bigint' && version > (engine.ledger?.oldestVersion ?? version)
    return truncateTo(isMoreLeft ? version - 1n : version, options)
  }),
  brokenTruncation('cuts one version too few', (truncateTo, engine) => (version, options) => {
    const isBelow = typeof version === 'bigint' && version < (engine.ledger?.latestVersion ?? version)
    return truncateTo(isBelow ? version + 1n : version, options)
  }),
  brokenTruncation('cuts whole blocks only', (truncateTo, engine) => async (version, options) => {
    await truncateTo(version, options)
    const { firstVersion } = engine.blockAt(version)
    if (firstVersion < version && firstVersion > engine.ledger!.oldestVersion)
      await truncateTo(firstVersion - 1n, options)
  }),
  brokenTruncation('does not truncate', (truncateTo, engine) => async (version, options) => {
    if (version !== engine.ledger?.latestVersion) engine.at(version)
    else await truncateTo(version, options)
  }),
  brokenTruncation('takes a version below the window for the oldest', (truncateTo, engine) => (version, options) => {
    const oldest = engine.ledger?.oldestVersion ?? 0n
    return truncateTo(typeof version === 'bigint' && version >= 0n && version < oldest ? oldest : version, options)
  }),
  brokenTruncation('takes a version above the latest for the latest', (truncateTo, engine) => (version, options) => {
    const latest = engine.ledger?.latestVersion ?? 0n
    return truncateTo(typeof version === 'bigint' && version > latest ? latest : version, options)
  }),
  brokenTruncation('takes a number for the version that is left', (truncateTo) => (version, options) => {
    return truncateTo(typeof version === 'number' ? BigInt(version) : version, options)
  }),
  brokenTruncation('does not look at the options of a truncation', (truncateTo) => (version, options) => {
    return truncateTo(version, typeof options === 'object' ? options : {})
  }),
  brokenTruncation('does not look at the mark of a truncation', (truncateTo) => (version, options) => {
    const isBytes = options?.mark === undefined || options.mark instanceof Uint8Array
    return truncateTo(version, isBytes ? options : { ...options, mark: undefined })
  }),
  brokenTruncation('forgets the mark of a truncation', (truncateTo) => async (version, options) => {
    await truncateTo(version, options)
    await truncateTo(version)
  }),
  brokenTruncation('keeps the mark of what was cut off', (truncateTo, engine) => (version, options) => {
    const { mark } = options ?? {}
    return truncateTo(version, mark === undefined && engine.ledger ? { mark: engine.mark } : options)
  }),
  broken('keeps the mark that a truncation is given, not a copy', (engine) => {
    let given: Uint8Array | undefined
    return {
      truncateTo: async (version, options) => {
        await engine.truncateTo(version, options)
        given = options?.mark
      },
      commit: async (...of) => {
        given = undefined
        await engine.commit(...of)
      },
      get mark() {
        return given ?? engine.mark
      },
    }
  }),
  brokenTruncation('truncates after commits that are called after it', (truncateTo) => async (version, options) => {
    await new Promise((resolve) => setImmediate(resolve))
    await truncateTo(version, options)
  }),
  broken('reports the mark of what was cut off', (engine) => {
    let mark: Uint8Array | undefined
    return {
      truncateTo: async (...given) => {
        const before = engine.ledger && engine.mark
        await engine.truncateTo(...given)
        mark = engine.mark ?? before
      },
      commit: async (...given) => {
        await engine.commit(...given)
        mark = undefined
      },
      get mark() {
        return mark ?? engine.mark
      },
    }
  }),
  brokenView('answers what was cut off from the branch of now: get', (view, engine) => ({
    get: (key) =>
      answeringAnyway(
        () => view.get(key),
        () => engine.at().get(key),
      ),
  })),
  brokenView('answers what was cut off from the branch of now: getEntry', (view, engine) => ({
    getEntry: (key) =>
      answeringAnyway(
        () => view.getEntry(key),
        () => engine.at().getEntry(key),
      ),
  })),
  brokenView('answers what was cut off from the branch of now: scan', (view, engine) => ({
    scan: (...given) =>
      goingOn(
        answeringAnyway(
          () => view.scan(...given),
          () => [],
        ),
        () => engine.at().scan(...given),
      ),
  })),
  broken('continues with the history of another branch', (engine) => ({
    history: (...given) =>
      goingOn(engine.history(...given), () => {
        return engine.history(...given)
      }),
  })),
  broken('continues with the versions of another branch', (engine) => ({
    versions: (...given) =>
      goingOn(engine.versions(...given), () => {
        return engine.versions(...given)
      }),
  })),
  broken('ends a history early of which versions are cut off', (engine) => ({
    history: (...given) => {
      const items = engine.history(...given)
      return endingEarly(items)
    },
  })),
  broken('ends all views at a truncation', (engine) => {
    let truncations = 0
    return {
      truncateTo: async (...given) => {
        await engine.truncateTo(...given)
        truncations++
      },
      at: (version) => {
        const view = engine.at(version)
        const opened = truncations
        return overriding(view, {
          get: (key: Uint8Array) => {
            return truncations > opened ? engine.at((engine.ledger?.latestVersion ?? 0n) + 1n).get(key) : view.get(key)
          },
          getEntry: (key: Uint8Array) => {
            const at = truncations > opened ? engine.at((engine.ledger?.latestVersion ?? 0n) + 1n) : view
            return at.getEntry(key)
          },
        })
      },
    }
  }),
  brokenLedger('does not tell of truncations', ({ truncations: _, ...ledger }) => ledger),
  brokenLedger('reports the newest truncation only', (ledger) =>
    ledger.truncations ? { ...ledger, truncations: ledger.truncations.slice(-1) } : ledger,
  ),
  broken('reports no truncation when it is opened again', (engine, openings) => ({
    get ledger() {
      const { truncations, ...ledger } = engine.ledger ?? {}
      if (!engine.ledger) return undefined
      return openings === 0 && truncations ? engine.ledger : (ledger as LedgerSummary)
    },
  })),
  broken('notifies listeners of no truncation', (engine) => ({
    onCommit: (listener) => {
      let latest = engine.ledger?.latestVersion ?? 0n
      const call = (ledger: LedgerSummary) => {
        if (ledger.latestVersion >= latest) listener(ledger)
        latest = ledger.latestVersion
      }
      return engine.onCommit(typeof listener === 'function' ? call : listener)
    },
  })),
  broken('notifies listeners of versions that they know no more', (engine) => ({
    onCommit: (listener) => {
      const known = new Set<bigint>()
      const call = (ledger: LedgerSummary) => {
        if (!known.has(ledger.latestVersion)) listener(ledger)
        known.add(ledger.latestVersion)
      }
      return engine.onCommit(typeof listener === 'function' ? call : listener)
    },
  })),
  broken('finds blocks that were cut off', (engine) => {
    const cut = new Map<bigint, ReturnType<StateWriter['blockByHeight']>>()
    return {
      truncateTo: async (...given) => {
        const { latestBlock } = engine.ledger ?? {}
        const found = latestBlock && engine.blockByHeight(latestBlock.height)
        await engine.truncateTo(...given)
        if (found) cut.set(found.block.height, found)
      },
      blockByHeight: (height) => engine.blockByHeight(height) ?? cut.get(height),
    }
  }),
]
