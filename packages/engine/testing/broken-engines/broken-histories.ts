import { U64_MAX } from '@ledger-state/core'
import { endingEarly, mapping } from './parts.ts'
import { type Faults, onEngine } from './patches.ts'

const { answered, given, rescued } = onEngine
const EMPTY = new Uint8Array(0)

export const BROKEN_HISTORIES: Faults = {
  'ends a history early that a prune overtakes': answered('history', endingEarly),
  'finishes a history that a prune overtakes': answered('history', (history) => [...history]),
  'breaks every history off that a prune meets': answered('history', (history, _, engine) => {
    const { oldestVersion } = engine.ledger ?? { oldestVersion: 0n }
    return mapping(history, (revision) => {
      if (engine.ledger!.oldestVersion !== oldestVersion) engine.at(oldestVersion)
      return revision
    })
  }),
  'reports an empty value as a deletion': answered('history', (history) =>
    mapping(history, ({ version, value }) => ({ version, value: value?.length ? value : null })),
  ),
  'reports a deletion as an empty value': answered('history', (history) =>
    mapping(history, ({ version, value }) => ({ version, value: value ?? EMPTY })),
  ),
  'leaves deletions out of a history': answered('history', (history) =>
    [...history].filter(({ value }) => value !== null),
  ),
  'ignores the order of a history': answered('history', (_, [key, options], engine) =>
    engine.history(key, { first: options?.first, last: options?.last }),
  ),
  'reports a history the oldest first by default': given('history', ([key, options]) => [
    key,
    { order: 'asc', ...options },
  ]),
  'leaves the first version of a part of a history out': answered('history', (history, [, options]) =>
    options?.first === undefined ? history : [...history].filter(({ version }) => version !== options.first),
  ),
  'leaves the last version of a part of a history out': answered('history', (history, [, options]) =>
    options?.last === undefined ? history : [...history].filter(({ version }) => version !== options.last),
  ),
  'ignores where a part of a history begins': answered('history', (_, [key, options], engine) =>
    engine.history(key, { ...options, first: undefined }),
  ),
  'ignores where a part of a history ends': answered('history', (_, [key, options], engine) =>
    engine.history(key, { ...options, last: undefined }),
  ),
  'leaves the write that the oldest version sees out of a history': answered('history', (history, _, engine) =>
    [...history].filter(({ version }) => version >= (engine.ledger?.oldestVersion ?? 0n)),
  ),
  'adds later commits to a history': answered('history', (history, [key, options], engine) => {
    return options?.order === 'asc' && options.first === undefined ? growing() : history
    function* growing() {
      let next = 0n
      for (const revision of history) {
        next = revision.version + 1n
        yield revision
      }
      yield* engine.history(key, { ...options, first: next })
    }
  }),
  'reports the version after each write': answered('history', (history) =>
    mapping(history, ({ version, value }) => ({ version: version + 1n, value })),
  ),

  'lists versions without their blocks': answered('versions', (versions) =>
    mapping(versions, ({ version, writes }) => ({ version, writes })),
  ),
  'leaves versions out that wrote nothing': answered('versions', (versions) =>
    [...versions].filter(({ writes }) => writes.length > 0),
  ),
  'lists the kept part of versions that were pruned': given('versions', ([first, last], engine) => {
    const oldest = engine.ledger?.oldestVersion ?? 0n
    return [typeof first === 'bigint' && first <= oldest ? oldest + 1n : first, last]
  }),
  'lists versions up to the latest only': given('versions', ([first, last], engine) => {
    const latest = engine.ledger?.latestVersion ?? U64_MAX
    return [first, typeof last === 'bigint' && last > latest ? latest : last]
  }),
  'ends a list of versions early that a prune overtakes': answered('versions', endingEarly),

  'reports the height of a block as its epoch': answered('blockAt', (found) => ({
    ...found,
    block: { ...found.block, epoch: found.block.height },
  })),
  'reports the time of the ledger as that of every block': answered('blockAt', (found, _, engine) => ({
    ...found,
    block: { ...found.block, timestampUsec: engine.ledger!.latestBlock.timestampUsec },
  })),
  'reports the latest version as the last of every block': answered('blockAt', (found, _, engine) => ({
    ...found,
    lastVersion: engine.ledger!.latestVersion,
  })),
  'reports the first version of the next block as the last of a block': answered('blockAt', (found, _, engine) => {
    const isNewest = found.lastVersion === engine.ledger!.latestVersion
    return isNewest ? found : { ...found, lastVersion: found.lastVersion + 1n }
  }),
  'reports the version that was asked for as the first of its block': answered('blockAt', (found, [version]) => ({
    ...found,
    firstVersion: version,
  })),
  'answers blocks of versions that were pruned': given('blockAt', ([version], engine) => {
    const oldest = engine.ledger?.oldestVersion ?? 0n
    return [typeof version === 'bigint' && version < oldest ? oldest : version]
  }),
  'finds the nearest block instead of that of a height': answered('blockByHeight', (found, [height], engine) => {
    let nearest = found
    for (let at = height - 1n; !nearest && at >= 0n && at > height - 5n; at--) nearest = engine.blockByHeight(at)
    return nearest
  }),
  'takes a height for a version': (engine, openings) =>
    answered('blockByHeight', (_, [height]) => {
      return rescued('blockAt', () => undefined)(engine, openings).blockAt!(height)
    })(engine, openings),
  'finds no block of the oldest height': answered('blockByHeight', (found, _, engine) =>
    found?.firstVersion === engine.ledger!.oldestVersion ? undefined : found,
  ),
  'finds blocks of exactly a time only': answered('blockAtTime', (found, [time]) =>
    found?.block.timestampUsec === time ? found : undefined,
  ),
  'finds the first of the blocks of one time': answered('blockAtTime', (newest, _, engine) => {
    let found = newest
    while (found && found.firstVersion > engine.ledger!.oldestVersion) {
      const before = engine.blockAt(found.firstVersion - 1n)
      if (before.block.timestampUsec !== found.block.timestampUsec) break
      found = before
    }
    return found
  }),
  'finds the oldest block for every time before it': answered(
    'blockAtTime',
    (found, _, engine) => found ?? engine.blockAt(engine.ledger!.oldestVersion),
  ),
  'finds no block for a time in the future': answered('blockAtTime', (found, [time], engine) =>
    time > engine.ledger!.latestBlock.timestampUsec ? undefined : found,
  ),
}
