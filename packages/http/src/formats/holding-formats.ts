import { atOnce, bytesToHex, type Steps } from '@ledger-state/core'
import {
  type Activity,
  type AssetMetadata,
  formatTimestamp,
  type HeldAsset,
  type Holding,
  type ListedObject,
  type OwnedObject,
} from '@ledger-state/ledger'
import { typeTagToText } from '@ledger-state/type-tag'
import type { AnswerBytes } from '../admission/answer-bytes.js'
import { addressToText } from './address-text.js'
import { csvCell } from './csv-cell.js'
import type { JsonSchema } from './json-schema.js'
import type { PageBody } from './page-body.js'
import type { TransactionOf } from './transaction-formats.js'

const U64: JsonSchema = { $ref: '#/components/schemas/U64' }
const ADDRESS: JsonSchema = { $ref: '#/components/schemas/Address' }
const ASSET: JsonSchema = {
  type: 'string',
  description: 'A coin type as the chain prints it, or the address of the metadata of a fungible asset.',
}
const STANDARD: JsonSchema = {
  type: 'string',
  enum: ['v1', 'v2'],
  description: '`v1` for a coin, `v2` for a fungible asset.',
}
const STORAGE: JsonSchema = {
  ...ADDRESS,
  description: 'Address of the fungible store; of a coin store, its account.',
}

/** How items of one kind are printed as JSON and as CSV. */
export interface ItemFormat<T> {
  readonly schema: JsonSchema
  readonly columns: readonly string[]
  /** The JSON text of an item. */
  toJson(item: T): string
  /** The cells of a row, in the order of the columns. */
  toCells(item: T): readonly string[]
  /** The same in steps, for items that may be long. */
  readonly inSteps?: FormsInSteps<T>
}

interface FormsInSteps<T> {
  toJson(item: T): Steps<string>
  toCells(item: T): Steps<readonly string[]>
}

/** Finds the metadata of an asset; undefined if it is not requested. */
export type MetadataOf = ((asset: HeldAsset) => AssetMetadata | undefined) | undefined

const HOLDING_COLUMNS = [
  'asset_type',
  'token_standard',
  'owner_address',
  'storage_id',
  'is_primary',
  'is_frozen',
  'amount',
  'last_transaction_version',
]

const HOLDING_SCHEMA: JsonSchema = {
  type: 'object',
  required: HOLDING_COLUMNS,
  properties: {
    asset_type: ASSET,
    token_standard: STANDARD,
    owner_address: ADDRESS,
    storage_id: STORAGE,
    is_primary: { type: 'boolean', description: 'Whether it is the store that the owner has by default.' },
    is_frozen: { type: 'boolean' },
    amount: U64,
    last_transaction_version: { ...U64, description: 'Version that last wrote the store.' },
    metadata: {
      description: 'With `with_metadata=true`: the metadata that the creator of the asset set; null if there is none.',
      oneOf: [
        {
          type: 'object',
          required: ['name', 'symbol', 'decimals'],
          properties: {
            name: { type: 'string' },
            symbol: { type: 'string' },
            decimals: { type: 'integer', minimum: 0, maximum: 255 },
          },
        },
        { type: 'null' },
      ],
    },
  },
}

/** The format of balances and holders. */
export function holdingFormat(metadataOf: MetadataOf): ItemFormat<Holding> {
  return {
    schema: HOLDING_SCHEMA,
    columns: metadataOf ? [...HOLDING_COLUMNS, 'name', 'symbol', 'decimals'] : HOLDING_COLUMNS,
    toJson(holding) {
      const { asset, owner, storage, isPrimary, isFrozen, amount, version } = holding
      const metadata = metadataOf ? `,"metadata":${JSON.stringify(metadataOf(asset) ?? null)}` : ''
      return `{${assetMembers(asset)},"owner_address":"${addressToText(owner)}","storage_id":"${addressToText(storage)}","is_primary":${isPrimary},"is_frozen":${isFrozen},"amount":"${amount}","last_transaction_version":"${version}"${metadata}}`
    },
    toCells(holding) {
      const { asset, owner, storage, isPrimary, isFrozen, amount, version } = holding
      const cells = [
        assetToText(asset),
        asset.standard,
        addressToText(owner),
        addressToText(storage),
        String(isPrimary),
        String(isFrozen),
        String(amount),
        String(version),
      ]
      if (!metadataOf) return cells
      const { name, symbol, decimals } = metadataOf(asset) ?? {}
      return [...cells, name ?? '', symbol ?? '', String(decimals ?? '')]
    },
  }
}

const OBJECT_COLUMNS = [
  'object_address',
  'owner_address',
  'allow_ungated_transfer',
  'resources',
  'last_transaction_version',
]

/** Most texts that are joined in one step. */
const JOINED_AT_ONCE = 64

/** Joins texts in steps: a text that was made of parts takes its time when it is first read. */
function* joinInSteps(texts: readonly string[], separator: string, map = (text: string) => text): Steps<string> {
  const parts: string[] = []
  for (let at = 0; at < texts.length; at += JOINED_AT_ONCE) {
    if (at > 0) yield
    parts.push(
      texts
        .slice(at, at + JOINED_AT_ONCE)
        .map(map)
        .join(separator),
    )
  }
  return parts.join(separator)
}

const OBJECT_IN_STEPS: FormsInSteps<ListedObject> = {
  *toJson(object) {
    const { address, owner, allowsUngatedTransfer, version } = object
    const resources = yield* joinInSteps(yield* object.resourcesInSteps(), ',', (text) => JSON.stringify(text))
    return `{"object_address":"${addressToText(address)}","owner_address":"${addressToText(owner)}","allow_ungated_transfer":${allowsUngatedTransfer},"resources":[${resources}],"last_transaction_version":"${version}"}`
  },
  *toCells(object) {
    const { address, owner, allowsUngatedTransfer, version } = object
    const resources = yield* joinInSteps(yield* object.resourcesInSteps(), ' ')
    return [addressToText(address), addressToText(owner), String(allowsUngatedTransfer), resources, String(version)]
  },
}

/** Forms of an owned object. */
export const OBJECT_FORMAT: ItemFormat<ListedObject> = {
  schema: {
    type: 'object',
    required: OBJECT_COLUMNS,
    properties: {
      object_address: ADDRESS,
      owner_address: ADDRESS,
      allow_ungated_transfer: { type: 'boolean' },
      resources: { type: 'array', items: { type: 'string' }, description: 'Types of its resources.' },
      last_transaction_version: { ...U64, description: 'Version that last wrote the object.' },
    },
  },
  columns: OBJECT_COLUMNS,
  toJson: (object) => atOnce(OBJECT_IN_STEPS.toJson(object)),
  toCells: (object) => atOnce(OBJECT_IN_STEPS.toCells(object)),
  inSteps: OBJECT_IN_STEPS,
}

const TOKEN_COLUMNS = ['token_address', 'owner_address', 'last_transaction_version']

/** Forms of a token of a collection. */
export const TOKEN_FORMAT: ItemFormat<OwnedObject> = {
  schema: {
    type: 'object',
    required: TOKEN_COLUMNS,
    properties: {
      token_address: ADDRESS,
      owner_address: ADDRESS,
      last_transaction_version: { ...U64, description: 'Version that last wrote the token.' },
    },
  },
  columns: TOKEN_COLUMNS,
  toJson: ({ address, owner, version }) =>
    `{"token_address":"${addressToText(address)}","owner_address":"${addressToText(owner)}","last_transaction_version":"${version}"}`,
  toCells: ({ address, owner, version }) => [addressToText(address), addressToText(owner), String(version)],
}

const CHANGE_COLUMNS = ['asset_type', 'token_standard', 'storage_id', 'before', 'after', 'change']

export const ACTIVITY_SCHEMA: JsonSchema = {
  type: 'object',
  required: ['version', 'timestamp', ...CHANGE_COLUMNS],
  properties: {
    version: U64,
    timestamp: { ...U64, description: 'Time of the block, in microseconds since 1970.' },
    transaction_hash: {
      type: 'string',
      format: 'hex',
      description: 'Hash of the transaction that made the version, if the store keeps transactions.',
    },
    asset_type: ASSET,
    token_standard: STANDARD,
    storage_id: STORAGE,
    before: { ...U64, description: 'Balance of the account in this store before the version.' },
    after: { ...U64, description: 'Balance of the account in this store after the version.' },
    change: { type: 'string', description: '`after` less `before`, with its sign.' },
  },
}

/** The format of activities. */
export function activityFormat(transactionOf: TransactionOf): ItemFormat<Activity> {
  const hashOf = (version: bigint): string | undefined => {
    const transaction = transactionOf?.(version)
    return transaction && bytesToHex(transaction.hash)
  }
  return {
    schema: ACTIVITY_SCHEMA,
    columns: ['version', 'timestamp', 'time', ...(transactionOf ? ['transaction_hash'] : []), ...CHANGE_COLUMNS],
    toJson({ version, timestampUsec, asset, storage, before, after }) {
      const hash = hashOf(version)
      const transaction = hash === undefined ? '' : `,"transaction_hash":"${hash}"`
      return `{"version":"${version}","timestamp":"${timestampUsec}"${transaction},${assetMembers(asset)},"storage_id":"${addressToText(storage)}","before":"${before}","after":"${after}","change":"${after - before}"}`
    },
    toCells: ({ version, timestampUsec, asset, storage, before, after }) => [
      String(version),
      String(timestampUsec),
      formatTimestamp(timestampUsec),
      ...(transactionOf ? [hashOf(version) ?? ''] : []),
      assetToText(asset),
      asset.standard,
      addressToText(storage),
      String(before),
      String(after),
      String(after - before),
    ],
  }
}

/** A change of an owner's holding in a store, as JSON, in the form of an activity with its owner. */
export function heldChangeToJson(
  asset: HeldAsset,
  owner: Uint8Array,
  { storage, before, after }: Pick<Activity, 'storage' | 'before' | 'after'>,
): string {
  return `{"owner_address":"${addressToText(owner)}",${assetMembers(asset)},"storage_id":"${addressToText(storage)}","before":"${before}","after":"${after}","change":"${after - before}"}`
}

function assetToText(asset: HeldAsset): string {
  return asset.standard === 'v1' ? typeTagToText(asset.coin) : addressToText(asset.metadata)
}

function assetMembers(asset: HeldAsset): string {
  return `"asset_type":${JSON.stringify(assetToText(asset))},"token_standard":"${asset.standard}"`
}

/** Rows of cells as CSV (RFC 4180), with a line that names the columns. */
export class CsvBody implements PageBody<readonly string[]> {
  readonly #out: AnswerBytes

  constructor(out: AnswerBytes, columns: readonly string[]) {
    this.#out = out.text(`${columns.join()}\r\n`)
  }

  get length(): number {
    return this.#out.length
  }

  add(cells: readonly string[]): void {
    this.#out.text(`${cells.map(csvCell).join()}\r\n`)
  }

  end(): AnswerBytes {
    return this.#out
  }
}
