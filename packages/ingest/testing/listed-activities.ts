// Pages of activities as a plain model has them, and readers that note what a page reads.
import { addressToLongHex, parseAddress } from '@ledger-state/core'
import type { StateReader } from '@ledger-state/engine'
import {
  type ActivitiesOptions,
  type Activity,
  type ActivityCursor,
  type Ledger,
  listActivities,
} from '@ledger-state/ledger'
import type { ExpectedActivity } from '@ledger-state/ledger/testing/random-holdings'
import { typeTagToText } from '@ledger-state/type-tag'

export function toExpected({ version, asset, storage, before, after }: Activity): ExpectedActivity {
  const assetType = asset.standard === 'v1' ? typeTagToText(asset.coin) : addressToLongHex(asset.metadata)
  return { version, assetType, storage: addressToLongHex(storage), before, after }
}

/** A page of the activities of an owner up to a version. */
export function pageOf(
  ledger: Ledger,
  owner: string,
  to: bigint,
  options: ActivitiesOptions,
): { readonly items: ExpectedActivity[]; readonly cursor: ActivityCursor | undefined } {
  const page = listActivities(ledger.at(to), parseAddress(owner), options)
  return { items: [...page].filter((item) => item !== undefined).map(toExpected), cursor: page.cursor }
}

/** A reader that notes the keys of histories and the prefixes of scans. */
export function counted(engine: StateReader): {
  readonly reader: StateReader
  readonly asked: Set<string>
  readonly scanned: Set<string>
} {
  const asked = new Set<string>()
  const scanned = new Set<string>()
  const reader = {
    ...engine,
    get ledger() {
      return engine.ledger
    },
    get base() {
      return engine.base
    },
    at(version?: bigint) {
      const view = engine.at(version)
      return new Proxy(view, {
        get(of, name: keyof typeof view) {
          if (name !== 'scan') return typeof of[name] === 'function' ? (of[name] as () => unknown).bind(of) : of[name]
          return (prefix: Uint8Array, options?: object) => {
            scanned.add(Buffer.from(prefix).toString('hex'))
            return of.scan(prefix, options)
          }
        },
      })
    },
    blockAt: (version: bigint) => engine.blockAt(version),
    history(key: Uint8Array, options = {}) {
      asked.add(Buffer.from(key).toString('hex'))
      return engine.history(key, options)
    },
  } as StateReader
  return { reader, asked, scanned }
}
