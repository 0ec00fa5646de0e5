import { type BrokenEngine, broken, brokenView, endingEarly, hiding, mapping, sharing } from './break-engine.ts'

const EMPTY = new Uint8Array(0)

export const BROKEN_VIEWS: readonly BrokenEngine[] = [
  brokenView('finds nothing in a pruned view: get', (view) => ({
    get: (key) => hiding(() => view.get(key), undefined),
  })),
  brokenView('finds nothing in a pruned view: peek', (view) => ({
    peek: (key) => hiding(() => view.peek(key), undefined),
  })),
  brokenView('finds nothing in a pruned view: getEntry', (view) => ({
    getEntry: (key) => hiding(() => view.getEntry(key), undefined),
  })),
  brokenView('finds nothing in a pruned view: has', (view) => ({ has: (key) => hiding(() => view.has(key), false) })),
  brokenView('finds nothing in a pruned view: getMany', (view) => ({
    getMany: (keys) => hiding(() => view.getMany(keys), [undefined]),
  })),
  brokenView('finds nothing in a pruned view: scan', (view) => ({
    scan: (prefix, options) => hiding(() => view.scan(prefix, options), []),
  })),
  brokenView('moves the ledger of a view', (_, engine) => ({
    get ledger() {
      return engine.ledger!
    },
  })),
  broken('moves the view of the latest version to the next', (engine) => ({
    at: (version) => {
      const view = engine.at(version)
      if (version !== undefined) return view
      return {
        ...view,
        get: (key) => engine.at().get(key),
        peek: (key) => engine.at().peek(key),
        getEntry: (key) => engine.at().getEntry(key),
      }
    },
  })),
  brokenView('says that an entry was written by the version of the view', (view) => ({
    getEntry: (key) => {
      const entry = view.getEntry(key)
      return entry && { ...entry, version: view.version }
    },
  })),
  brokenView('reads an empty value as absent', (view) => ({
    get: (key) => (view.get(key)?.length ? view.get(key) : undefined),
  })),
  brokenView('reads what is absent as an empty value', (view) => ({ get: (key) => view.get(key) ?? EMPTY })),
  brokenView('has no empty values', (view) => ({ has: (key) => Boolean(view.get(key)?.length) })),
  brokenView('leaves out absent keys of getMany', (view) => ({
    getMany: (keys) => view.getMany(keys).filter((value) => value !== undefined),
  })),
  brokenView('peeks at the latest version', (_, engine) => ({ peek: (key) => engine.at().peek(key) })),
  broken('answers versions above the latest', (engine) => ({
    at: (version) =>
      engine.at(
        typeof version === 'bigint' && version > (engine.ledger?.latestVersion ?? version) ? undefined : version,
      ),
  })),
  broken('answers versions below the oldest', (engine) => ({
    at: (version) => {
      const oldest = engine.ledger?.oldestVersion ?? 0n
      return engine.at(typeof version === 'bigint' && version >= 0n && version < oldest ? oldest : version)
    },
  })),
  broken('hands out its own bytes: get', (engine) => {
    const share = sharing<Uint8Array | undefined>()
    return {
      at: (version) => {
        const view = engine.at(version)
        return { ...view, get: (key) => share(view.get(key)) }
      },
    }
  }),
  broken('hands out its own bytes: getEntry', (engine) => {
    const share = sharing<Uint8Array>()
    return {
      at: (version) => {
        const view = engine.at(version)
        const getEntry = (key: Uint8Array) => {
          const entry = view.getEntry(key)
          return entry && { ...entry, value: share(entry.value) }
        }
        return { ...view, getEntry }
      },
    }
  }),
  broken('hands out its own bytes: getMany', (engine) => {
    const share = sharing<Uint8Array | undefined>()
    return {
      at: (version) => {
        const view = engine.at(version)
        return { ...view, getMany: (keys) => view.getMany(keys).map(share) }
      },
    }
  }),
  broken('hands out its own values: scan', (engine) => {
    const share = sharing<Uint8Array>()
    return {
      at: (version) => {
        const view = engine.at(version)
        const scan: typeof view.scan = (prefix, options) =>
          mapping(view.scan(prefix, options), (entry) => ({ ...entry, value: share(entry.value) }))
        return { ...view, scan }
      },
    }
  }),
  broken('hands out its own keys: scan', (engine) => {
    const share = sharing<Uint8Array>()
    return {
      at: (version) => {
        const view = engine.at(version)
        const scan: typeof view.scan = (prefix, options) =>
          mapping(view.scan(prefix, options), (entry) => ({ ...entry, key: share(entry.key) }))
        return { ...view, scan }
      },
    }
  }),
  broken('hands out its own bytes: history', (engine) => {
    const share = sharing<Uint8Array | null>()
    return {
      history: (key, options) =>
        mapping(engine.history(key, options), ({ version, value }) => ({ version, value: share(value) })),
    }
  }),
  broken('hands out its own bytes: versions', (engine) => {
    const share = sharing<Uint8Array | null>()
    return {
      versions: (first, last) =>
        mapping(engine.versions(first, last), (one) => ({
          ...one,
          writes: one.writes.map(([key, value]) => [key, share(value)] as const),
        })),
    }
  }),
  broken('lends the bytes of a scan until the next entry', (engine) => ({
    at: (version) => {
      const view = engine.at(version)
      const lent = new Uint8Array(100)
      const scan: typeof view.scan = (prefix, options) =>
        mapping(view.scan(prefix, options), (entry) => {
          if (entry.value.length > lent.length) return entry
          lent.set(entry.value)
          return { ...entry, value: lent.subarray(0, entry.value.length) }
        })
      return { ...view, scan }
    },
  })),
  brokenView('says nothing of a key that is not bytes', (view) => ({
    get: (key) => (key instanceof Uint8Array ? view.get(key) : undefined),
  })),
  brokenView('fails with a TypeError for keys that are not an array', (view) => ({
    getMany: (keys) => keys.map((key) => view.get(key)),
  })),
  broken('takes a number for a version', (engine) => ({
    at: (version) => engine.at(typeof version === 'number' ? BigInt(version) : version),
  })),
  broken('calls a negative version pruned', (engine) => ({
    at: (version) => engine.at(typeof version === 'bigint' && version < 0n ? 0n : version),
  })),

  brokenView('scans with the version of the view', (view) => ({
    scan: (prefix, options) => mapping(view.scan(prefix, options), (entry) => ({ ...entry, version: view.version })),
  })),
  brokenView('scans backwards', (view) => ({
    scan: (prefix, options) => [...view.scan(prefix, options)].reverse(),
  })),
  brokenView('leaves the start key itself out', (view) => ({
    scan: (prefix, options) => {
      const scan = view.scan(prefix, options)
      const { start } = options ?? {}
      if (!start) return scan
      return [...scan].filter(({ key }) => Buffer.compare(key, start) !== 0)
    },
  })),
  brokenView('ignores the start of a scan', (view) => ({
    scan: (prefix, options) =>
      view.scan(prefix, options?.start instanceof Uint8Array ? { limit: options.limit } : options),
  })),
  brokenView('ignores the limit of a scan', (view) => ({
    scan: (prefix, options) => {
      view.scan(prefix, options)
      return view.scan(prefix, { start: options?.start })
    },
  })),
  brokenView('takes a limit of 0 for none', (view) => ({
    scan: (prefix, options) => view.scan(prefix, options?.limit === 0 ? {} : options),
  })),
  brokenView('counts absent keys in the limit of a scan', (view, engine) => ({
    scan: (prefix, options) => {
      const scan = view.scan(prefix, options)
      const { limit, start } = options ?? {}
      if (!limit) return scan
      const atOldest = engine.at(engine.ledger!.oldestVersion).scan(prefix, { start, limit })
      const last = [...atOldest].at(-1)?.key
      return [...scan].filter(({ key }) => !last || Buffer.compare(key, last) <= 0)
    },
  })),
  brokenView('leaves the prefix for a start below it', (view) => ({
    scan: (prefix, options) => {
      const scan = view.scan(prefix, options)
      const { start, limit } = options ?? {}
      return start && Buffer.compare(start, prefix) < 0 ? view.scan(EMPTY, { start, limit }) : scan
    },
  })),
  brokenView('continues into other prefixes from a start above its own', (view) => ({
    scan: (prefix, options) => {
      const scan = view.scan(prefix, options)
      return options?.start ? view.scan(EMPTY, options) : scan
    },
  })),
  brokenView('ends a scan early that a prune overtakes', (view) => ({
    scan: (prefix, options) => endingEarly(view.scan(prefix, options)),
  })),
  brokenView('finishes a scan that a prune overtakes', (view) => ({
    scan: (prefix, options) => [...view.scan(prefix, options)],
  })),
  brokenView('continues a scan in the latest version', (view, engine) => ({
    scan: (prefix, options) => followingLatest(view.scan(prefix, options), () => engine.at()),
  })),
]

function* followingLatest<T extends { readonly key: Uint8Array }>(
  scan: Iterable<T>,
  latest: () => { getEntry(key: Uint8Array): object | undefined },
): Generator<T> {
  for (const entry of scan) {
    const newer = latest().getEntry(entry.key)
    yield newer ? { ...entry, ...newer } : entry
  }
}
