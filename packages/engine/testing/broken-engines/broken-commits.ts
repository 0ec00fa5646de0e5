import { isLedgerStateError, type Write } from '@ledger-state/core'
import { type BrokenEngine, broken, brokenView, type Commit, sharing, textOf, type Versions } from './break-engine.ts'

/** Makes an engine that resolves although it should refuse with a code. */
function swallowing(code: string): BrokenEngine {
  return broken(`takes what is ${code} without a word`, (engine) => ({
    commit: async (versions, options) => {
      await engine.commit(versions, options).catch((error: unknown) => {
        if (!isLedgerStateError(error, code)) throw error
      })
    },
  }))
}

const EMPTY: Versions = []

export const BROKEN_COMMITS: readonly BrokenEngine[] = [
  swallowing('version_gap'),
  swallowing('block_order'),
  swallowing('duplicate_key'),
  swallowing('chain_id_mismatch'),
  swallowing('key_too_long'),
  swallowing('value_too_long'),
  swallowing('invalid_argument'),

  broken('writes a refused batch with the next good one', (engine) => {
    let refused: Write[] = []
    const commit: Commit = async (versions, options) => {
      const [first, ...others] = versions
      const extra = refused.filter(([key]) => !first?.writes.some?.(([other]) => textOf(other) === textOf(key)))
      try {
        await engine.commit(
          first && extra.length > 0 ? [{ ...first, writes: [...first.writes, ...extra] }, ...others] : versions,
          options,
        )
      } catch (error) {
        if (isLedgerStateError(error, 'version_gap')) refused = [[Buffer.from('refused'), Buffer.from('refused')]]
        throw error
      }
    }
    return { commit }
  }),
  broken('keeps the good part of a refused batch', (engine) => ({
    commit: async (versions, options) => {
      if (!Array.isArray(versions) || versions.length === 0) return engine.commit(versions, options)
      for (const one of versions) await engine.commit([one], options)
    },
  })),
  broken('keeps the mark of a refused batch', (engine) => {
    let mark: Uint8Array | undefined
    const commit: Commit = async (versions, options) => {
      await engine.commit(versions, options).catch((error: unknown) => {
        if (isLedgerStateError(error, 'version_gap')) mark = options.mark
        throw error
      })
      mark = undefined
    }
    return {
      commit,
      get mark() {
        return mark ?? engine.mark
      },
    }
  }),
  broken('keeps the low byte of the chain id only', (engine) => ({
    commit: async (versions, options) => {
      const { chainId } = options ?? {}
      const low = typeof chainId === 'bigint' ? chainId & 0xffn : chainId
      return engine.commit(versions, options && { ...options, chainId: low! })
    },
  })),
  broken('sets the mark of an empty batch', (engine) => {
    let mark: Uint8Array | undefined
    return {
      commit: async (versions, options) => {
        await engine.commit(versions, options)
        mark = versions.length === 0 ? options.mark : undefined
      },
      get mark() {
        return mark ?? engine.mark
      },
    }
  }),
  broken('keeps the mark of the commit before', (engine) => ({
    commit: async (versions, options) => {
      const mark = options?.mark === undefined && engine.ledger ? engine.mark : options?.mark
      return engine.commit(versions, options && { ...options, mark })
    },
  })),
  broken('forgets the mark when it is opened again', (_engine, openings) => (openings > 0 ? { mark: undefined } : {})),
  broken('forgets what it began with when it is opened again', (engine, openings) => ({
    base: openings > 0 ? undefined : engine.base,
    get ledger() {
      return engine.ledger
    },
  })),
  broken('begins with a complete state, whatever it begins with', (engine) => ({
    get base() {
      return engine.base && { ...engine.base, complete: true }
    },
  })),
  broken('keeps the value that it is given, not a copy', (engine) => {
    const given = new Map<string, Uint8Array>()
    const nameOf = (key: Uint8Array, value: Uint8Array) => `${textOf(key)} ${textOf(value)}`
    return {
      commit: async (versions, options) => {
        await engine.commit(versions, options)
        const writes = versions.flatMap((one) => one.writes)
        for (const [key, value] of writes) if (value && value.length < 99) given.set(nameOf(key, value), value)
      },
      at: (version) => {
        const view = engine.at(version)
        const get = (key: Uint8Array) => {
          const sound = view.get(key)
          return sound && (given.get(nameOf(key, sound)) ?? sound)
        }
        return { ...view, get }
      },
    }
  }),
  broken('keeps the mark that it is given, not a copy', (engine) => {
    let given: Uint8Array | undefined
    return {
      commit: async (versions, options) => {
        await engine.commit(versions, options)
        if (versions.length > 0) given = options.mark
      },
      get mark() {
        return engine.ledger ? given : engine.mark
      },
    }
  }),
  broken('keeps the block that it is given, not a copy', (engine) => {
    let given: Versions[number]['block']
    return {
      commit: async (versions, options) => {
        await engine.commit(versions, options)
        given = versions.findLast(({ block }) => block)?.block ?? given
      },
      get ledger() {
        const { ledger } = engine
        return ledger && given ? { ...ledger, latestBlock: given } : ledger
      },
    }
  }),
  broken('hands out its own mark', (engine) => {
    const share = sharing<Uint8Array | undefined>()
    let known: Uint8Array | undefined
    return {
      commit: async (versions, options) => {
        await engine.commit(versions, options)
        if (versions.length > 0) known = undefined
      },
      get mark() {
        known ??= share(engine.mark)
        return known
      },
    }
  }),
  broken('loses the second of two commits that are made at once', (engine) => {
    let busy = false
    return {
      commit: async (versions, options) => {
        if (busy) return
        busy = true
        await engine.commit(versions, options).finally(() => {
          busy = false
        })
      },
    }
  }),
  broken('refuses a commit while another is under way', (engine) => {
    let busy = false
    return {
      commit: async (versions, options) => {
        const isBusy = busy
        busy = true
        try {
          await Promise.resolve()
          if (isBusy) throw new Error('busy')
          await engine.commit(versions, options)
        } finally {
          busy = isBusy
        }
      },
    }
  }),
  broken('shows the newest version of a batch only', (engine) => {
    const hidden = new Set<bigint>()
    return {
      commit: async (versions, options) => {
        await engine.commit(versions, options)
        for (const { version } of versions.slice(0, -1)) hidden.add(version)
      },
      at: (version) => engine.at(version !== undefined && hidden.has(version) ? undefined : version),
    }
  }),
  broken('reports the latest version as the oldest', (engine) => ({
    get ledger() {
      const { ledger } = engine
      return ledger && { ...ledger, oldestVersion: ledger.latestVersion }
    },
  })),
  broken('rounds versions to what a number holds', (engine) => ({
    at: (version) => engine.at(typeof version === 'bigint' ? BigInt.asUintN(64, BigInt(Number(version))) : version),
  })),
  broken('has a ledger after an empty first batch', (engine) => {
    let began = false
    return {
      commit: async (versions, options) => {
        await engine.commit(versions, options)
        began = true
      },
      get ledger() {
        const { ledger } = engine
        return began && !ledger ? ({ latestVersion: 0n } as never) : ledger
      },
    }
  }),
  brokenView('cuts values above a megabyte', (view) => ({
    get: (key) => view.get(key)?.subarray(0, 2 ** 20),
  })),
  broken('takes keys that are too long for one another', (engine) => ({
    commit: async (versions, options) => {
      if (!Array.isArray(versions)) return engine.commit(versions, options)
      const short = (write: Write): Write =>
        write[0] instanceof Uint8Array && write[0].length <= 65_536 ? [write[0].subarray(0, 4_000), write[1]] : write
      const shortened = versions.map((one) => (one?.writes?.map ? { ...one, writes: one.writes.map(short) } : one))
      return engine.commit(shortened.length === 0 ? EMPTY : shortened, options)
    },
  })),
]
