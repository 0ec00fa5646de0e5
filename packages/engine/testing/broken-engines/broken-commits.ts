import { isLedgerStateError, type Write } from '@ledger-state/core'
import type { StateWriter } from '../../src/ports/engine-ports.ts'
import { all, ledgers, marks, sharing, textOf } from './parts.ts'
import { type Faults, onEngine, onView, views } from './patches.ts'

const { answered, given, replaced, rescued } = onEngine
type Versions = Parameters<StateWriter['commit']>[0]

/** Resolves although the engine should refuse with a code. */
const swallowing = (code: string) => rescued('commit', () => undefined, code)

export const BROKEN_COMMITS: Faults = {
  'accepts a batch that is version_gap without an error': swallowing('version_gap'),
  'accepts a batch that is block_order without an error': swallowing('block_order'),
  'accepts a batch that is duplicate_key without an error': swallowing('duplicate_key'),
  'accepts a batch that is chain_id_mismatch without an error': swallowing('chain_id_mismatch'),
  'accepts a batch that is key_too_long without an error': swallowing('key_too_long'),
  'accepts a batch that is value_too_long without an error': swallowing('value_too_long'),
  'accepts a batch that is invalid_argument without an error': swallowing('invalid_argument'),

  'writes a refused batch with the next good one': replaced('commit', (commit) => {
    let refused: Write[] = []
    return async (versions, options) => {
      const [first, ...others] = versions
      const extra = refused.filter(([key]) => !first?.writes.some?.(([other]) => textOf(other) === textOf(key)))
      const more = first && extra.length > 0 ? [{ ...first, writes: [...first.writes, ...extra] }, ...others] : versions
      await commit(more, options).catch((error: unknown) => {
        if (isLedgerStateError(error, 'version_gap')) refused = [[Buffer.from('refused'), Buffer.from('refused')]]
        throw error
      })
    }
  }),
  'keeps the good part of a refused batch': replaced('commit', (commit) => async (versions, options) => {
    if (!Array.isArray(versions) || versions.length === 0) return commit(versions, options)
    for (const one of versions) await commit([one], options)
  }),
  'keeps the mark of a refused batch': marks((keep) =>
    replaced('commit', (commit) => async (versions, options) => {
      await commit(versions, options).catch((error: unknown) => {
        if (isLedgerStateError(error, 'version_gap')) keep(options.mark)
        throw error
      })
      keep(undefined)
    }),
  ),
  'keeps the low byte of the chain id only': given('commit', ([versions, options]) => {
    const { chainId } = options ?? {}
    return [versions, options && { ...options, chainId: typeof chainId === 'bigint' ? chainId & 0xffn : chainId }]
  }),
  'sets the mark of an empty batch': marks((keep) =>
    answered('commit', (_, [versions, options]) => keep(versions.length === 0 ? options.mark : undefined)),
  ),
  'keeps the mark of the commit before': given('commit', ([versions, options], engine) => {
    const mark = options?.mark === undefined && engine.ledger ? engine.mark : options?.mark
    return [versions, options && { ...options, mark }]
  }),
  'forgets the mark when it is opened again': (_, openings) => (openings > 0 ? { mark: undefined } : {}),
  'forgets its base when it is opened again': (_, openings) => (openings > 0 ? { base: undefined } : {}),
  'begins with a complete state, whatever it begins with': (engine) => ({
    get base() {
      return engine.base && { ...engine.base, complete: true }
    },
  }),
  'keeps the value that it is given, not a copy': (engine, openings) => {
    const kept = new Map<string, Uint8Array>()
    const nameOf = (key: Uint8Array, value: Uint8Array) => `${textOf(key)} ${textOf(value)}`
    const keeping = answered('commit', (_, [versions]) => {
      const writes = versions.flatMap((one) => one.writes)
      for (const [key, value] of writes) if (value && value.length < 99) kept.set(nameOf(key, value), value)
    })
    const giving = views(onView.answered('get', (value, [key]) => value && (kept.get(nameOf(key, value)) ?? value)))
    return all(keeping, giving)(engine, openings)
  },
  'keeps the mark that it is given, not a copy': marks((keep) =>
    answered('commit', (_, [versions, options]) => {
      if (versions.length > 0) keep(options.mark)
    }),
  ),
  'keeps the block that it is given, not a copy': (engine, openings) => {
    let latestBlock: Versions[number]['block']
    const keeping = answered('commit', (_, [versions]) => {
      latestBlock = versions.findLast(({ block }) => block)?.block ?? latestBlock
    })
    return {
      ...keeping(engine, openings),
      get ledger() {
        const { ledger } = engine
        return ledger && latestBlock ? { ...ledger, latestBlock } : ledger
      },
    }
  },
  'hands out its own mark': (engine, openings) => {
    const share = sharing<Uint8Array | undefined>()
    let known: Uint8Array | undefined
    const forgetting = answered('commit', (_, [versions]) => {
      if (versions.length > 0) known = undefined
    })
    return {
      ...forgetting(engine, openings),
      get mark() {
        known ??= share(engine.mark)
        return known
      },
    }
  },
  'loses the second of two commits that are made at once': replaced('commit', (commit) => {
    let busy = false
    return async (...of) => {
      if (busy) return
      busy = true
      await commit(...of).finally(() => {
        busy = false
      })
    }
  }),
  'refuses a commit while another is under way': replaced('commit', (commit) => {
    let busy = false
    return async (...of) => {
      const isBusy = busy
      busy = true
      try {
        await Promise.resolve()
        if (isBusy) throw new Error('busy')
        await commit(...of)
      } finally {
        busy = isBusy
      }
    }
  }),
  'shows the newest version of a batch only': (engine, openings) => {
    const hidden = new Set<bigint>()
    const hiding = answered('commit', (_, [versions]) => {
      for (const { version } of versions.slice(0, -1)) hidden.add(version)
    })
    const moving = given('at', ([version]) => [version !== undefined && hidden.has(version) ? undefined : version])
    return all(hiding, moving)(engine, openings)
  },
  'reports the latest version as the oldest': ledgers((ledger) => ({
    ...ledger,
    oldestVersion: ledger.latestVersion,
  })),
  'rounds versions to the precision of a number': given('at', ([version]) => [
    typeof version === 'bigint' ? BigInt.asUintN(64, BigInt(Number(version))) : version,
  ]),
  'has a ledger after an empty first batch': (engine, openings) => {
    let began = false
    const beginning = answered('commit', () => {
      began = true
    })
    return {
      ...beginning(engine, openings),
      get ledger() {
        const { ledger } = engine
        return began && !ledger ? ({ latestVersion: 0n } as never) : ledger
      },
    }
  },
  'cuts values above a megabyte': views(onView.answered('get', (value) => value?.subarray(0, 2 ** 20))),
  'takes keys that are too long for one another': given('commit', ([versions, options]) => {
    if (!Array.isArray(versions)) return [versions, options]
    const short = (write: Write): Write =>
      write[0] instanceof Uint8Array && write[0].length <= 65_536 ? [write[0].subarray(0, 4_000), write[1]] : write
    return [versions.map((one) => (one?.writes?.map ? { ...one, writes: one.writes.map(short) } : one)), options]
  }),
}
