import type { KeyedEntry } from '@ledger-state/core'
import { endingEarly, mapping, sharing } from './parts.ts'
import { type EnginePatch, type Faults, onEngine, onView, views } from './patches.ts'

const { answered, given, rescued } = onView
const EMPTY = new Uint8Array(0)

/** Gives all callers the same array for equal bytes. */
function shared(patch: (share: ReturnType<typeof sharing<Uint8Array>>) => EnginePatch): EnginePatch {
  return (engine, openings) => {
    const share = sharing<Uint8Array | null | undefined>() as ReturnType<typeof sharing<Uint8Array>>
    return patch(share)(engine, openings)
  }
}

function scans(change: (entry: KeyedEntry) => KeyedEntry): EnginePatch {
  return views(answered('scan', (scan) => mapping(scan, change)))
}

export const BROKEN_VIEWS: Faults = {
  'finds nothing in a pruned view: get': views(rescued('get', () => undefined)),
  'finds nothing in a pruned view: peek': views(rescued('peek', () => undefined)),
  'finds nothing in a pruned view: getEntry': views(rescued('getEntry', () => undefined)),
  'finds nothing in a pruned view: has': views(rescued('has', () => false)),
  'finds nothing in a pruned view: getMany': views(rescued('getMany', () => [undefined])),
  'finds nothing in a pruned view: scan': views(rescued('scan', () => [])),
  'moves the ledger of a view': views((_, engine) => ({
    get ledger() {
      return engine.ledger!
    },
  })),
  'moves the view of the latest version to the next': onEngine.answered('at', (view, [version], engine) => {
    if (version !== undefined) return view
    return {
      ...view,
      get: (key: Uint8Array) => engine.at().get(key),
      peek: (key: Uint8Array) => engine.at().peek(key),
      getEntry: (key: Uint8Array) => engine.at().getEntry(key),
    }
  }),
  'says that an entry was written by the version of the view': views(
    answered('getEntry', (entry, _, { version }) => entry && { ...entry, version }),
  ),
  'reads an empty value as absent': views(answered('get', (value) => (value?.length ? value : undefined))),
  'reads an absent key as an empty value': views(answered('get', (value) => value ?? EMPTY)),
  'has no empty values': views(answered('has', (_, [key], view) => Boolean(view.get(key)?.length))),
  'leaves out absent keys of getMany': views(
    answered('getMany', (values) => values.filter((value) => value !== undefined)),
  ),
  'peeks at the latest version': views((_, engine) => ({ peek: (key) => engine.at().peek(key) })),
  'answers versions above the latest': onEngine.given('at', ([version], { ledger }) => [
    typeof version === 'bigint' && version > (ledger?.latestVersion ?? version) ? undefined : version,
  ]),
  'answers versions below the oldest': onEngine.given('at', ([version], { ledger }) => {
    const oldest = ledger?.oldestVersion ?? 0n
    return [typeof version === 'bigint' && version >= 0n && version < oldest ? oldest : version]
  }),
  'hands out its own bytes: get': shared((share) => views(answered('get', (value) => value && share(value)))),
  'hands out its own bytes: getEntry': shared((share) =>
    views(answered('getEntry', (entry) => entry && { ...entry, value: share(entry.value) })),
  ),
  'hands out its own bytes: getMany': shared((share) =>
    views(answered('getMany', (values) => values.map((value) => value && share(value)))),
  ),
  'hands out its own values: scan': shared((share) => scans((entry) => ({ ...entry, value: share(entry.value) }))),
  'hands out its own keys: scan': shared((share) => scans((entry) => ({ ...entry, key: share(entry.key) }))),
  'hands out its own bytes: history': shared((share) =>
    onEngine.answered('history', (history) =>
      mapping(history, ({ version, value }) => ({ version, value: value && share(value) })),
    ),
  ),
  'hands out its own bytes: versions': shared((share) =>
    onEngine.answered('versions', (versions) =>
      mapping(versions, (one) => ({
        ...one,
        writes: one.writes.map(([key, value]) => [key, value && share(value)] as const),
      })),
    ),
  ),
  'lends the bytes of a scan until the next entry': views(
    answered('scan', (scan) => {
      const lent = new Uint8Array(100)
      return mapping(scan, (entry) => {
        if (entry.value.length > lent.length) return entry
        lent.set(entry.value)
        return { ...entry, value: lent.subarray(0, entry.value.length) }
      })
    }),
  ),
  'says nothing of a key that is not bytes': views((view) => ({
    get: (key) => (key instanceof Uint8Array ? view.get(key) : undefined),
  })),
  'fails with a TypeError for keys that are not an array': views((view) => ({
    getMany: (keys) => keys.map((key) => view.get(key)),
  })),
  'takes a number for a version': onEngine.given('at', ([version]) => [
    typeof version === 'number' ? BigInt(version) : version,
  ]),
  'calls a negative version pruned': onEngine.given('at', ([version]) => [
    typeof version === 'bigint' && version < 0n ? 0n : version,
  ]),

  'scans with the version of the view': views(
    answered('scan', (scan, _, { version }) => mapping(scan, (entry) => ({ ...entry, version }))),
  ),
  'scans backwards': views(answered('scan', (scan) => [...scan].reverse())),
  'leaves the start key itself out': views(
    answered('scan', (scan, [, { start } = {}]) =>
      start ? [...scan].filter(({ key }) => Buffer.compare(key, start) !== 0) : scan,
    ),
  ),
  'ignores the start of a scan': views(
    given('scan', ([prefix, options]) => [
      prefix,
      options?.start instanceof Uint8Array ? { limit: options.limit } : options,
    ]),
  ),
  'ignores the limit of a scan': views(
    answered('scan', (_, [prefix, options], view) => view.scan(prefix, { start: options?.start })),
  ),
  'takes a limit of 0 for none': views(
    given('scan', ([prefix, options]) => [prefix, options?.limit === 0 ? {} : options]),
  ),
  'counts absent keys in the limit of a scan': views(
    answered('scan', (scan, [prefix, { limit, start } = {}], _, engine) => {
      if (!limit) return scan
      const atOldest = engine.at(engine.ledger!.oldestVersion).scan(prefix, { start, limit })
      const last = [...atOldest].at(-1)?.key
      return [...scan].filter(({ key }) => !last || Buffer.compare(key, last) <= 0)
    }),
  ),
  'leaves the prefix for a start below it': views(
    answered('scan', (scan, [prefix, options], view) =>
      options?.start && Buffer.compare(options.start, prefix) < 0 ? view.scan(EMPTY, options) : scan,
    ),
  ),
  'continues into other prefixes from a start above its own': views(
    answered('scan', (scan, [, options], view) => (options?.start ? view.scan(EMPTY, options) : scan)),
  ),
  'ends a scan early that a prune overtakes': views(answered('scan', endingEarly)),
  'finishes a scan that a prune overtakes': views(answered('scan', (scan) => [...scan])),
  'continues a scan in the latest version': views(
    answered('scan', (scan, _, __, engine) =>
      mapping(scan, (entry) => ({ ...entry, ...engine.at().getEntry(entry.key) })),
    ),
  ),
}
