import type { StateImport } from '../../src/ports/engine-ports.ts'
import type { LedgerSummary } from '../../src/ports/state-port.ts'
import { all, type Listener, listening, withListeners } from './parts.ts'
import { type EnginePatch, type Faults, onEngine } from './patches.ts'

const { answered, given, replaced } = onEngine

/** Changes an import that was begun. */
function imports(change: (sound: StateImport, hasLedger: () => boolean) => Partial<StateImport>): EnginePatch {
  return answered('beginImport', (sound, _, engine) =>
    Object.create(sound, Object.getOwnPropertyDescriptors(change(sound, () => engine.ledger !== undefined))),
  )
}

export const BROKEN_UPKEEP: Faults = {
  'prunes everything, whatever maxEntries says': given('prune', ([retain, options]) => {
    const isLimited = typeof options?.maxEntries === 'number' && options.maxEntries >= 1
    return [retain, isLimited ? {} : options]
  }),
  'is always done with a prune': answered('prune', (result) => ({ ...result, done: true })),
  'is never done with a prune': answered('prune', (result) => ({ ...result, done: false })),
  'does not count the writes that it drops': answered('prune', (result) => ({ ...result, droppedEntries: 0 })),
  'reports the oldest version that was asked for': answered('prune', (result, [retain], engine) => {
    const start = engine.ledger!.latestVersion - retain + 1n
    return { ...result, oldestVersion: start > 0n ? start : 0n }
  }),
  'takes an empty window for one version': given('prune', ([retain, options]) => [
    retain === 0n ? 1n : retain,
    options,
  ]),
  'takes a maxEntries that is not a number for none': given('prune', ([retain, options]) => [
    retain,
    Number.isNaN(options?.maxEntries) ? {} : options,
  ]),
  'prunes one version too many': given('prune', ([retain, options]) => [
    typeof retain === 'bigint' && retain > 1n ? retain - 1n : retain,
    options,
  ]),
  'raises the oldest version when a prune is done, and not before': (engine) => {
    let shown: LedgerSummary | undefined
    return {
      prune: async (...of) => {
        const before = engine.ledger
        const result = await engine.prune(...of)
        shown = result.done ? undefined : (shown ?? before)
        return result
      },
      get ledger() {
        return shown ?? engine.ledger
      },
    }
  },
  'moves the window back for a larger one': answered('prune', (result, [retain], engine) => {
    const start = engine.ledger!.latestVersion - retain + 1n
    return start < result.oldestVersion && start > 0n ? { ...result, oldestVersion: start } : result
  }),

  'imports a state at any number': given('beginImport', ([version, options]) => [
    typeof version === 'bigint' ? BigInt.asUintN(64, version) : version,
    options,
  ]),
  'begins every import again': given('beginImport', ([version, options]) => [version, options && {}]),
  'resumes every import': given('beginImport', ([version, options]) => [version, options ?? { resume: true }]),
  'forgets the version of imported entries': imports((sound) => ({
    add: (entries, mark) =>
      sound.add(Array.isArray(entries) ? entries.map((entry) => moved(entry, sound.version)) : entries, mark),
  })),
  'keeps the good part of refused entries': imports((sound) => ({
    add: async (entries, mark) => {
      if (!Array.isArray(entries) || entries.length === 0) return sound.add(entries, mark)
      for (const entry of entries) await sound.add([entry], mark)
    },
  })),
  'takes every imported state for complete': imports((sound) => ({
    finish: (base) => sound.finish(typeof base?.complete === 'boolean' ? { ...base, complete: true } : base),
  })),
  'forgets the mark of an imported state': imports((sound) => ({
    finish: (base) => sound.finish(base?.mark instanceof Uint8Array ? { ...base, mark: undefined } : base),
  })),
  'does not check the base that finishes an import': imports((sound) => ({
    finish: (base) => sound.finish({ ...base, block: base?.block ?? { height: 0n, epoch: 0n, timestampUsec: 0n } }),
  })),
  'imports into a store that has versions': replaced('beginImport', (begin, engine) => async (version, options) => {
    if (!engine.ledger) return begin(version, options)
    const done = async () => {}
    return { version, entryCount: 0, mark: undefined, add: done, finish: done }
  }),
  'forgets the mark of an unfinished import': answered(
    'unfinishedImport',
    (left) => left && { ...left, mark: undefined },
  ),
  'knows of no unfinished import': () => ({ unfinishedImport: async () => undefined }),
  'continues an import after a commit': imports((sound, hasLedger) => ({
    finish: async (base) => {
      await sound.finish(base).catch((error: unknown) => {
        if (!hasLedger()) throw error
      })
    },
  })),

  'rejects a commit for the error of a listener': (engine, openings) => {
    const errors: unknown[] = []
    const rejecting = answered('commit', () => {
      if (errors.length > 0) throw errors[0]
    })
    return all(
      listening((listener) => quiet(listener, errors)),
      rejecting,
    )(engine, openings)
  },
  'swallows the errors of listeners': listening((listener) => quiet(listener)),
  'calls listeners before the commit is visible': (engine, openings) => {
    let before: LedgerSummary | undefined
    let isTelling = false
    const telling = listening((listener) => (ledger) => {
      isTelling = true
      listener(ledger)
      isTelling = false
      before = ledger
    })
    return {
      ...telling(engine, openings),
      get ledger() {
        return isTelling ? before : engine.ledger
      },
    }
  },
  'calls listeners that were removed': answered('onCommit', () => () => {}),
  'notifies listeners of no prune': listening((listener) => {
    let latest: bigint | undefined
    return (ledger) => {
      if (ledger.latestVersion !== latest) listener(ledger)
      latest = ledger.latestVersion
    }
  }),
  'notifies listeners of every call of prune': withListeners((tell) =>
    replaced('prune', (prune, engine) => async (...of) => {
      const { oldestVersion } = engine.ledger ?? {}
      const result = await prune(...of)
      if (result.oldestVersion === oldestVersion) tell(engine.ledger!)
      return result
    }),
  ),
  'notifies listeners of each version of a batch': listening((listener, known) => {
    let latest = known?.latestVersion ?? 0n
    return (ledger) => {
      for (; latest < ledger.latestVersion; latest++) listener({ ...ledger, latestVersion: latest + 1n })
    }
  }),
  'answers after it was closed': (engine) => {
    let last: LedgerSummary | undefined
    let isClosed = false
    return {
      close: async () => {
        if (!isClosed) last = engine.ledger
        isClosed = true
        await engine.close()
      },
      get ledger() {
        return last ?? engine.ledger
      },
    }
  },
  'cannot be closed twice': (engine) => {
    let isClosed = false
    return {
      close: async () => {
        if (isClosed) throw new Error('closed')
        isClosed = true
        await engine.close()
      },
    }
  },
  'stays open at the end of a block that uses it': () => ({ [Symbol.asyncDispose]: async () => {} }),
  'keeps its store locked after it was closed': () => ({ close: async () => {} }),
  'forgets everything when it is opened again': (_, openings) =>
    openings === 0 ? {} : { ledger: undefined, base: undefined, mark: undefined },
}

function moved<T>(entry: T, version: bigint): T {
  return typeof entry === 'object' && entry !== null && 'version' in entry && (entry.version as bigint) < version
    ? { ...entry, version }
    : entry
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
