import type { LedgerSummary } from '../../src/ports/state-port.ts'
import { type BrokenEngine, broken, hiding, type StateWriter } from './break-engine.ts'

type Prune = StateWriter['prune']
type Listener = (ledger: LedgerSummary) => void

function brokenPrune(fault: string, replace: (prune: Prune, engine: StateWriter) => Prune): BrokenEngine {
  return broken(fault, (engine) => ({ prune: replace((...given) => engine.prune(...given), engine) }))
}

function brokenImport(
  fault: string,
  replace: (begin: StateWriter['beginImport'], engine: StateWriter) => StateWriter['beginImport'],
): BrokenEngine {
  return broken(fault, (engine) => ({ beginImport: replace((...given) => engine.beginImport(...given), engine) }))
}

export const BROKEN_UPKEEP: readonly BrokenEngine[] = [
  brokenPrune('prunes everything, whatever maxEntries says', (prune) => (retain, options) => {
    const isLimited = typeof options?.maxEntries === 'number' && options.maxEntries >= 1
    return prune(retain, isLimited ? {} : options)
  }),
  brokenPrune('is always done with a prune', (prune) => async (...given) => ({
    ...(await prune(...given)),
    done: true,
  })),
  brokenPrune('is never done with a prune', (prune) => async (...given) => ({
    ...(await prune(...given)),
    done: false,
  })),
  brokenPrune('does not count what it drops', (prune) => async (...given) => ({
    ...(await prune(...given)),
    droppedEntries: 0,
  })),
  brokenPrune('reports the oldest version that was asked for', (prune, engine) => async (retain, options) => {
    const result = await prune(retain, options)
    const start = engine.ledger!.latestVersion - retain + 1n
    return { ...result, oldestVersion: start > 0n ? start : 0n }
  }),
  brokenPrune(
    'takes an empty window for one version',
    (prune) => (retain, options) => prune(retain === 0n ? 1n : retain, options),
  ),
  brokenPrune(
    'takes a maxEntries that is not a number for none',
    (prune) => (retain, options) => prune(retain, Number.isNaN(options?.maxEntries) ? {} : options),
  ),
  brokenPrune(
    'prunes one version too many',
    (prune) => (retain, options) => prune(typeof retain === 'bigint' && retain > 1n ? retain - 1n : retain, options),
  ),
  broken('raises the oldest version when a prune is done, and not before', (engine) => {
    let shown: LedgerSummary | undefined
    return {
      prune: async (...given) => {
        const before = engine.ledger
        const result = await engine.prune(...given)
        shown = result.done ? undefined : (shown ?? before)
        return result
      },
      get ledger() {
        return shown ?? engine.ledger
      },
    }
  }),
  broken('moves the window back for a larger one', (engine) => {
    let wanted: bigint | undefined
    return {
      prune: async (retain, options) => {
        const result = await engine.prune(retain, options)
        const start = engine.ledger!.latestVersion - retain + 1n
        wanted = start < result.oldestVersion && start > 0n ? start : undefined
        return wanted === undefined ? result : { ...result, oldestVersion: wanted }
      },
    }
  }),

  brokenImport(
    'imports a state at any number',
    (begin) => (version, options) =>
      begin(typeof version === 'bigint' ? BigInt.asUintN(64, version) : version, options),
  ),
  brokenImport('begins every import anew', (begin) => (version, options) => begin(version, options && {})),
  brokenImport(
    'resumes every import',
    (begin) => (version, options) => begin(version, options === undefined ? { resume: true } : options),
  ),
  brokenImport('forgets the version of imported entries', (begin) => async (version, options) => {
    const state = await begin(version, options)
    const add: typeof state.add = (entries, mark) =>
      state.add(Array.isArray(entries) ? entries.map((entry) => moved(entry, version)) : entries, mark)
    return withMembers(state, { add })
  }),
  brokenImport('keeps the good part of refused entries', (begin) => async (version, options) => {
    const state = await begin(version, options)
    const add: typeof state.add = async (entries, mark) => {
      if (!Array.isArray(entries) || entries.length === 0) return state.add(entries, mark)
      for (const entry of entries) await state.add([entry], mark)
    }
    return withMembers(state, { add })
  }),
  brokenImport('takes every imported state for complete', (begin) => async (version, options) => {
    const state = await begin(version, options)
    const finish: typeof state.finish = (base) =>
      state.finish(typeof base?.complete === 'boolean' ? { ...base, complete: true } : base)
    return withMembers(state, { finish })
  }),
  brokenImport('forgets the mark of an imported state', (begin) => async (version, options) => {
    const state = await begin(version, options)
    const finish: typeof state.finish = (base) =>
      state.finish(base?.mark instanceof Uint8Array ? { ...base, mark: undefined } : base)
    return withMembers(state, { finish })
  }),
  brokenImport('does not check what finishes an import', (begin) => async (version, options) => {
    const state = await begin(version, options)
    const block = { height: 0n, epoch: 0n, timestampUsec: 0n }
    const finish: typeof state.finish = (base) => state.finish({ ...base, block: base?.block ?? block })
    return withMembers(state, { finish })
  }),
  brokenImport('imports into a store that has versions', (begin, engine) => async (version, options) => {
    if (!engine.ledger) return begin(version, options)
    const done = async () => {}
    return { version, entryCount: 0, mark: undefined, add: done, finish: done }
  }),
  broken('forgets the mark of an unfinished import', (engine) => ({
    unfinishedImport: async () => {
      const left = await engine.unfinishedImport()
      return left && { ...left, mark: undefined }
    },
  })),
  broken('knows of no unfinished import', () => ({ unfinishedImport: async () => undefined })),
  broken('continues an import after a commit', (engine) => ({
    beginImport: async (version, options) => {
      const state = await engine.beginImport(version, options)
      const finish: typeof state.finish = async (base) => {
        await state.finish(base).catch((error: unknown) => {
          if (!engine.ledger) throw error
        })
      }
      return withMembers(state, { finish })
    },
  })),

  broken('rejects a commit for the error of a listener', (engine) => {
    const errors: unknown[] = []
    return {
      onCommit: (listener) => engine.onCommit(typeof listener === 'function' ? quiet(listener, errors) : listener),
      commit: async (...given) => {
        await engine.commit(...given)
        if (errors.length > 0) throw errors[0]
      },
    }
  }),
  broken('swallows the errors of listeners', (engine) => ({
    onCommit: (listener) => engine.onCommit(typeof listener === 'function' ? quiet(listener) : listener),
  })),
  broken('calls listeners before the commit is visible', (engine) => {
    let before: LedgerSummary | undefined
    let isTelling = false
    return {
      onCommit: (listener) =>
        engine.onCommit((ledger) => {
          isTelling = true
          listener(ledger)
          isTelling = false
          before = ledger
        }),
      get ledger() {
        return isTelling ? before : engine.ledger
      },
    }
  }),
  broken('calls listeners that were removed', (engine) => ({
    onCommit: (listener) => {
      engine.onCommit(listener)
      return () => {}
    },
  })),
  broken('notifies listeners of no prune', (engine) => ({
    onCommit: (listener) => {
      let latest: bigint | undefined
      const call: Listener = (ledger) => {
        if (ledger.latestVersion !== latest) listener(ledger)
        latest = ledger.latestVersion
      }
      return engine.onCommit(typeof listener === 'function' ? call : listener)
    },
  })),
  broken('notifies listeners of every call of prune', (engine) => {
    const listeners = new Set<Listener>()
    return {
      onCommit: (listener) => {
        listeners.add(listener)
        const remove = engine.onCommit(listener)
        return () => {
          listeners.delete(listener)
          remove()
        }
      },
      prune: async (...given) => {
        const { oldestVersion } = engine.ledger ?? {}
        const result = await engine.prune(...given)
        if (result.oldestVersion === oldestVersion) for (const listener of listeners) listener(engine.ledger!)
        return result
      },
    }
  }),
  broken('notifies listeners of each version of a batch', (engine) => ({
    onCommit: (listener) => {
      let latest = engine.ledger?.latestVersion ?? 0n
      const call: Listener = (ledger) => {
        for (; latest < ledger.latestVersion; latest++) listener({ ...ledger, latestVersion: latest + 1n })
      }
      return engine.onCommit(typeof listener === 'function' ? call : listener)
    },
  })),
  broken('answers after it was closed', (engine) => {
    let last: LedgerSummary | undefined
    return {
      close: async () => {
        last ??= hiding(() => engine.ledger, undefined)
        await engine.close()
      },
      get ledger() {
        return last ?? engine.ledger
      },
    }
  }),
  broken('cannot be closed twice', (engine) => {
    let isClosed = false
    return {
      close: async () => {
        if (isClosed) throw new Error('closed')
        isClosed = true
        await engine.close()
      },
    }
  }),
  broken('stays open at the end of a block that uses it', () => ({ [Symbol.asyncDispose]: async () => {} })),
  broken('keeps its store locked after it was closed', (_engine) => ({ close: async () => {} })),
  broken('forgets everything when it is opened again', (engine, openings) => (openings === 0 ? {} : forgetful(engine))),
]

function moved<T>(entry: T, version: bigint): T {
  return typeof entry === 'object' && entry !== null && 'version' in entry && (entry.version as bigint) < version
    ? { ...entry, version }
    : entry
}

function withMembers<T extends object>(target: T, members: Partial<T>): T {
  return Object.create(target, Object.getOwnPropertyDescriptors(members)) as T
}

function quiet(listener: Listener, errors: unknown[] = []): Listener {
  return (ledger) => {
    try {
      listener(ledger)
    } catch (error) {
      errors.push(error)
    }
  }
}

function forgetful(_engine: StateWriter): Partial<StateWriter> {
  return { ledger: undefined, base: undefined, mark: undefined }
}
