import type { StateWriter } from '../../src/ports/engine-ports.ts'
import type { LedgerSummary } from '../../src/ports/state-port.ts'
import { all, endingEarly, goingOn, ledgers, listening, marks } from './parts.ts'
import { type Faults, onEngine, onView, views } from './patches.ts'

const { answered, given, replaced } = onEngine

export const BROKEN_TRUNCATIONS: Faults = {
  'cuts one version too many': given('truncateTo', ([version, options], { ledger }) => {
    const isMoreLeft = typeof version === 'bigint' && version > (ledger?.oldestVersion ?? version)
    return [isMoreLeft ? version - 1n : version, options]
  }),
  'cuts one version too few': given('truncateTo', ([version, options], { ledger }) => {
    const isBelow = typeof version === 'bigint' && version < (ledger?.latestVersion ?? version)
    return [isBelow ? version + 1n : version, options]
  }),
  'cuts whole blocks only': answered('truncateTo', async (_, [version, options], engine) => {
    const { firstVersion } = engine.blockAt(version)
    if (firstVersion < version && firstVersion > engine.ledger!.oldestVersion)
      await engine.truncateTo(firstVersion - 1n, options)
  }),
  'does not truncate': replaced('truncateTo', (truncateTo, engine) => async (version, options) => {
    if (version !== engine.ledger?.latestVersion) engine.at(version)
    else await truncateTo(version, options)
  }),
  'takes a version below the window for the oldest': given('truncateTo', ([version, options], { ledger }) => {
    const oldest = ledger?.oldestVersion ?? 0n
    return [typeof version === 'bigint' && version >= 0n && version < oldest ? oldest : version, options]
  }),
  'takes a version above the latest for the latest': given('truncateTo', ([version, options], { ledger }) => {
    const latest = ledger?.latestVersion ?? 0n
    return [typeof version === 'bigint' && version > latest ? latest : version, options]
  }),
  'takes a number for the version that is left': given('truncateTo', ([version, options]) => [
    typeof version === 'number' ? BigInt(version) : version,
    options,
  ]),
  'does not look at the options of a truncation': given('truncateTo', ([version, options]) => [
    version,
    typeof options === 'object' ? options : {},
  ]),
  'does not look at the mark of a truncation': given('truncateTo', ([version, options]) => {
    const isBytes = options?.mark === undefined || options.mark instanceof Uint8Array
    return [version, isBytes ? options : { ...options, mark: undefined }]
  }),
  'forgets the mark of a truncation': answered('truncateTo', (_, [version], engine) => engine.truncateTo(version)),
  'keeps the mark of a version that was cut off': given('truncateTo', ([version, options], engine) => [
    version,
    options?.mark === undefined && engine.ledger ? { mark: engine.mark } : options,
  ]),
  'keeps the mark that a truncation is given, not a copy': marks((keep) =>
    all(
      answered('truncateTo', (_, [, options]) => keep(options?.mark)),
      given('commit', (versions) => {
        keep(undefined)
        return versions
      }),
    ),
  ),
  'truncates after commits that are called after it': replaced('truncateTo', (truncateTo) => async (...of) => {
    await new Promise((resolve) => setImmediate(resolve))
    await truncateTo(...of)
  }),
  'reports the mark of a version that was cut off': marks((keep) =>
    all(
      replaced('truncateTo', (truncateTo, engine) => async (...of) => {
        const before = engine.ledger && engine.mark
        await truncateTo(...of)
        keep(engine.mark ?? before)
      }),
      answered('commit', () => keep(undefined)),
    ),
  ),
  'answers for a version that was cut off from the present branch: get': views(
    onView.rescued('get', ([key], _, engine) => engine.at().get(key), 'version_truncated'),
  ),
  'answers for a version that was cut off from the present branch: getEntry': views(
    onView.rescued('getEntry', ([key], _, engine) => engine.at().getEntry(key), 'version_truncated'),
  ),
  'answers for a version that was cut off from the present branch: scan': views((view, engine) => {
    const { scan } = onView.rescued('scan', () => [], 'version_truncated')(view, engine)
    return { scan: (...of) => goingOn(scan!(...of), () => engine.at().scan(...of)) }
  }),
  'continues with the history of another branch': answered('history', (history, of, engine) =>
    goingOn(history, () => engine.history(...of)),
  ),
  'continues with the versions of another branch': answered('versions', (versions, of, engine) =>
    goingOn(versions, () => engine.versions(...of)),
  ),
  'ends a history early if versions of it are cut off': answered('history', endingEarly),
  'ends all views at a truncation': (engine, openings) => {
    let truncations = 0
    const ended = views((view) => {
      const opened = truncations
      const at = () => (truncations > opened ? engine.at((engine.ledger?.latestVersion ?? 0n) + 1n) : view)
      return { get: (key) => at().get(key), getEntry: (key) => at().getEntry(key) }
    })
    const counted = answered('truncateTo', () => {
      truncations++
    })
    return all(ended, counted)(engine, openings)
  },
  'does not tell of truncations': ledgers(({ truncations: _, ...ledger }) => ledger),
  'reports the newest truncation only': ledgers((ledger) =>
    ledger.truncations ? { ...ledger, truncations: ledger.truncations.slice(-1) } : ledger,
  ),
  'reports no truncation when it is opened again': ledgers(({ truncations, ...ledger }, openings) =>
    openings === 0 && truncations ? { ...ledger, truncations } : ledger,
  ),
  'notifies listeners of no truncation': listening((listener, ledger) => {
    let latest = ledger?.latestVersion ?? 0n
    return (newer: LedgerSummary) => {
      if (newer.latestVersion >= latest) listener(newer)
      latest = newer.latestVersion
    }
  }),
  'notifies listeners of versions that they know no more': listening((listener) => {
    const known = new Set<bigint>()
    return (ledger: LedgerSummary) => {
      if (!known.has(ledger.latestVersion)) listener(ledger)
      known.add(ledger.latestVersion)
    }
  }),
  'finds blocks that were cut off': (engine) => {
    const cut = new Map<bigint, ReturnType<StateWriter['blockByHeight']>>()
    return {
      truncateTo: async (...of) => {
        const { latestBlock } = engine.ledger ?? {}
        const found = latestBlock && engine.blockByHeight(latestBlock.height)
        await engine.truncateTo(...of)
        if (found) cut.set(found.block.height, found)
      },
      blockByHeight: (height) => engine.blockByHeight(height) ?? cut.get(height),
    }
  },
}
