import { U64_MAX } from '@ledger-state/core'
import { type BrokenEngine, broken, endingEarly, hiding, mapping } from './break-engine.ts'

export const BROKEN_HISTORIES: readonly BrokenEngine[] = [
  broken('ends a history early that a prune overtakes', (engine) => ({
    history: (key, options) => endingEarly(engine.history(key, options)),
  })),
  broken('finishes a history that a prune overtakes', (engine) => ({
    history: (key, options) => [...engine.history(key, options)],
  })),
  broken('breaks every history off that a prune meets', (engine) => ({
    history: (key, options) => {
      const { oldestVersion } = engine.ledger ?? { oldestVersion: 0n }
      return mapping(engine.history(key, options), (revision) => {
        if (engine.ledger!.oldestVersion !== oldestVersion) engine.at(oldestVersion)
        return revision
      })
    },
  })),
  broken('reports an empty value as a deletion', (engine) => ({
    history: (key, options) =>
      mapping(engine.history(key, options), ({ version, value }) => ({ version, value: value?.length ? value : null })),
  })),
  broken('reports a deletion as an empty value', (engine) => ({
    history: (key, options) =>
      mapping(engine.history(key, options), ({ version, value }) => ({ version, value: value ?? new Uint8Array(0) })),
  })),
  broken('leaves deletions out of a history', (engine) => ({
    history: (key, options) => [...engine.history(key, options)].filter(({ value }) => value !== null),
  })),
  broken('ignores the order of a history', (engine) => ({
    history: (key, options) => {
      engine.history(key, options)
      return engine.history(key, { first: options?.first, last: options?.last })
    },
  })),
  broken('reports a history the oldest first by default', (engine) => ({
    history: (key, options) => engine.history(key, { order: 'asc', ...options }),
  })),
  broken('leaves the first version of a part of a history out', (engine) => ({
    history: (key, options) => {
      const history = engine.history(key, options)
      const { first } = options ?? {}
      return first === undefined ? history : [...history].filter(({ version }) => version !== first)
    },
  })),
  broken('leaves the last version of a part of a history out', (engine) => ({
    history: (key, options) => {
      const history = engine.history(key, options)
      const { last } = options ?? {}
      return last === undefined ? history : [...history].filter(({ version }) => version !== last)
    },
  })),
  broken('ignores where a part of a history begins', (engine) => ({
    history: (key, options) => {
      engine.history(key, options)
      return engine.history(key, { ...options, first: undefined })
    },
  })),
  broken('ignores where a part of a history ends', (engine) => ({
    history: (key, options) => {
      engine.history(key, options)
      return engine.history(key, { ...options, last: undefined })
    },
  })),
  broken('leaves out of a history what the oldest version sees', (engine) => ({
    history: (key, options) => {
      const oldest = engine.ledger?.oldestVersion ?? 0n
      return [...engine.history(key, options)].filter(({ version }) => version >= oldest)
    },
  })),
  broken('adds to a history what is committed meanwhile', (engine) => ({
    history: (key, options) => {
      const history = engine.history(key, options)
      return options?.order === 'asc' && options.first === undefined ? growing(history) : history
      function* growing(known: typeof history) {
        let next = 0n
        for (const revision of known) {
          next = revision.version + 1n
          yield revision
        }
        yield* engine.history(key, { ...options, first: next })
      }
    },
  })),
  broken('reports the version after each write', (engine) => ({
    history: (key, options) =>
      mapping(engine.history(key, options), ({ version, value }) => ({ version: version + 1n, value })),
  })),

  broken('lists versions without their blocks', (engine) => ({
    versions: (first, last) => mapping(engine.versions(first, last), ({ version, writes }) => ({ version, writes })),
  })),
  broken('leaves versions out that wrote nothing', (engine) => ({
    versions: (first, last) => [...engine.versions(first, last)].filter(({ writes }) => writes.length > 0),
  })),
  broken('lists the kept part of versions that were pruned', (engine) => ({
    versions: (first, last) => {
      const oldest = engine.ledger?.oldestVersion ?? 0n
      return engine.versions(typeof first === 'bigint' && first <= oldest ? oldest + 1n : first, last)
    },
  })),
  broken('lists versions up to the latest only', (engine) => ({
    versions: (first, last) => {
      const latest = engine.ledger?.latestVersion ?? U64_MAX
      return engine.versions(first, typeof last === 'bigint' && last > latest ? latest : last)
    },
  })),
  broken('ends a list of versions early that a prune overtakes', (engine) => ({
    versions: (first, last) => endingEarly(engine.versions(first, last)),
  })),

  broken('reports the height of a block as its epoch', (engine) => ({
    blockAt: (version) => {
      const found = engine.blockAt(version)
      return { ...found, block: { ...found.block, epoch: found.block.height } }
    },
  })),
  broken('reports the time of the ledger as that of every block', (engine) => ({
    blockAt: (version) => {
      const found = engine.blockAt(version)
      const { timestampUsec } = engine.ledger!.latestBlock
      return { ...found, block: { ...found.block, timestampUsec } }
    },
  })),
  broken('reports the latest version as the last of every block', (engine) => ({
    blockAt: (version) => ({ ...engine.blockAt(version), lastVersion: engine.ledger!.latestVersion }),
  })),
  broken('reports the first version of the next block as the last of a block', (engine) => ({
    blockAt: (version) => {
      const found = engine.blockAt(version)
      const isNewest = found.lastVersion === engine.ledger!.latestVersion
      return { ...found, lastVersion: isNewest ? found.lastVersion : found.lastVersion + 1n }
    },
  })),
  broken('reports the version that was asked for as the first of its block', (engine) => ({
    blockAt: (version) => ({ ...engine.blockAt(version), firstVersion: version }),
  })),
  broken('answers blocks of versions that were pruned', (engine) => ({
    blockAt: (version) => {
      const oldest = engine.ledger?.oldestVersion ?? 0n
      return engine.blockAt(typeof version === 'bigint' && version < oldest ? oldest : version)
    },
  })),
  broken('finds the nearest block instead of that of a height', (engine) => ({
    blockByHeight: (height) => {
      for (let nearest = height; nearest >= 0n && nearest > height - 5n; nearest--) {
        const found = engine.blockByHeight(nearest)
        if (found) return found
      }
      return engine.blockByHeight(height)
    },
  })),
  broken('takes a height for a version', (engine) => ({
    blockByHeight: (height) => {
      engine.blockByHeight(height)
      return hiding(() => engine.blockAt(height), undefined)
    },
  })),
  broken('finds no block of the oldest height', (engine) => ({
    blockByHeight: (height) => {
      const found = engine.blockByHeight(height)
      return found?.firstVersion === engine.ledger!.oldestVersion ? undefined : found
    },
  })),
  broken('finds blocks of exactly a time only', (engine) => ({
    blockAtTime: (time) => {
      const found = engine.blockAtTime(time)
      return found?.block.timestampUsec === time ? found : undefined
    },
  })),
  broken('finds the first of the blocks of one time', (engine) => ({
    blockAtTime: (time) => {
      let found = engine.blockAtTime(time)
      while (found && found.firstVersion > engine.ledger!.oldestVersion) {
        const before = engine.blockAt(found.firstVersion - 1n)
        if (before.block.timestampUsec !== found.block.timestampUsec) break
        found = before
      }
      return found
    },
  })),
  broken('finds the oldest block for every time before it', (engine) => ({
    blockAtTime: (time) => {
      const found = engine.blockAtTime(time)
      return found ?? engine.blockAt(engine.ledger!.oldestVersion)
    },
  })),
  broken('finds no block for a time in the future', (engine) => ({
    blockAtTime: (time) => {
      const found = engine.blockAtTime(time)
      return time > engine.ledger!.latestBlock.timestampUsec ? undefined : found
    },
  })),
]
