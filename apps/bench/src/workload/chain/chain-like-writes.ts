import { createRandom, type Random } from '@ledger-state/testing/random'
import {
  account,
  asset,
  blockResource,
  blockTimeUsec,
  coinStore,
  coinSupply,
  currentTime,
  gasStore,
  items,
  type KeyedShape,
  stores,
  validatorPerformance,
} from './framework-records.ts'
import { FIRST_WRITES, KeyPopulation, type KeyReturns, WriteCounts } from './key-population.ts'

/** User transactions of a block. */
const USER_TRANSACTIONS = 12
/** Fewest and most writes of a user transaction; one more if the last one makes an account. */
const USER_WRITES = { least: 5, most: 10 }
/** Shares in per cent of the writes of a user transaction, other than of its sender and the supply. */
const DRAWN = { recipients: 25, stores: 35, assets: 5 }

/** One write, with the bytes that only its caller has. */
export interface ChainLikeWrite {
  /** The state key in database form. */
  readonly key: Uint8Array
  readonly value: Uint8Array
  /** Whether the key is written for the first time. */
  readonly isCreation: boolean
  /** Creation time that the ledger keeps for the key; undefined for resources of the framework itself. */
  readonly creationTimeUsec: number | undefined
}

export interface ChainLikeBlock {
  readonly height: number
  readonly timeUsec: number
  /** Writes of the block itself. */
  readonly metadata: ChainLikeWrite[]
  /** Writes of each user transaction; the first is of its sender's account. */
  readonly transactions: ChainLikeWrite[][]
}

/**
 * Writes of blocks, endlessly: 3 of the block itself, and 12 transactions of 5 to 10 writes. That is 6.6 writes a
 * version, counting the checkpoint without writes as a version. Values are resources and table items as the framework
 * lays them out, and a write changes the part of them that it changes on chain: a balance, a counter, a clock. A
 * setting with two values (`FIRST_WRITES`) says how often keys come back. The same seed gives the same bytes.
 *
 * It is an assumption that kinds of records have these shares and that nothing is deleted. The first block is the
 * genesis.
 */
export function* chainLikeBlocks(returns: KeyReturns, seed = 1): Generator<ChainLikeBlock, never> {
  const maker = new BlockMaker(returns, seed)
  yield maker.genesis()
  for (;;) yield maker.next()
}

/** Records of one kind, each under its own key. */
class Kind {
  readonly #shapes: readonly KeyedShape[]
  readonly #counts = new WriteCounts()

  constructor(...shapes: readonly KeyedShape[]) {
    this.#shapes = shapes
  }

  write(record: number, height: number): ChainLikeWrite {
    const { key, value } = this.#shapes[record % this.#shapes.length]!
    const write = this.#counts.next(record, height)
    return {
      key: key.bytes(record, 0),
      value: value.bytes(record, write),
      isCreation: write === 0,
      creationTimeUsec: blockTimeUsec(this.#counts.firstHeight(record)),
    }
  }
}

class BlockMaker {
  readonly #random: Random
  readonly #firstWrites: number
  readonly #perBlock = [new Kind(blockResource), new Kind(currentTime), new Kind(validatorPerformance)]
  readonly #supply = new Kind(coinSupply)
  readonly #accounts = new Kind(account)
  /** Every other account has its coins in a fungible store. */
  readonly #purses = new Kind(coinStore, gasStore)
  readonly #stores = new Kind(...stores)
  readonly #assets = new Kind(asset)
  readonly #items = new Kind(...items)
  /** Numbers of accounts and their purses, of stores, of assets and of items. */
  readonly #numbers: Readonly<Record<'account' | 'store' | 'asset' | 'item', KeyPopulation>>
  #height = 0
  #writes = 0
  #creations = 0

  constructor(returns: KeyReturns, seed: number) {
    this.#random = createRandom(seed)
    this.#firstWrites = FIRST_WRITES[returns]
    const population = () => new KeyPopulation(this.#random)
    this.#numbers = { account: population(), store: population(), asset: population(), item: population() }
  }

  genesis(): ChainLikeBlock {
    return { ...this.#block(), transactions: [[this.#write(this.#supply, 0)]] }
  }

  next(): ChainLikeBlock {
    this.#height++
    const block = this.#block()
    for (let at = 0; at < USER_TRANSACTIONS; at++) block.transactions.push(this.#transaction())
    return block
  }

  #block(): ChainLikeBlock {
    const metadata = this.#perBlock.map((kind) => ({ ...this.#write(kind, 0), creationTimeUsec: undefined }))
    return { height: this.#height, timeUsec: blockTimeUsec(this.#height), metadata, transactions: [] }
  }

  #transaction(): ChainLikeWrite[] {
    const { least, most } = USER_WRITES
    const count = least + this.#random.below(most - least + 1)
    const writes: ChainLikeWrite[] = []
    const written = new Map<Kind, Set<number>>()
    /** Writes the record, unless the transaction has already written it. */
    const add = (kind: Kind, record: number): void => {
      const records = written.get(kind) ?? new Set()
      if (records.has(record)) return
      written.set(kind, records.add(record))
      writes.push(this.#write(kind, record))
    }
    const sender = this.#draw('account')
    add(this.#accounts, sender)
    add(this.#purses, sender)
    add(this.#supply, 0)
    while (writes.length < count) {
      const percent = this.#random.below(100)
      if (percent < DRAWN.recipients) {
        const known = this.#numbers.account.known
        const recipient = this.#draw('account')
        if (recipient === known) add(this.#accounts, recipient)
        add(this.#purses, recipient)
      } else if (percent < DRAWN.recipients + DRAWN.stores) add(this.#stores, this.#draw('store'))
      else if (percent < DRAWN.recipients + DRAWN.stores + DRAWN.assets) add(this.#assets, this.#draw('asset'))
      else add(this.#items, this.#draw('item'))
    }
    return writes
  }

  /** A new record if the setting asks for more keys. Chance decides, so that no kind of record is preferred. */
  #draw(of: 'account' | 'store' | 'asset' | 'item'): number {
    const isDue = this.#creations < this.#firstWrites * this.#writes && this.#random.below(2) === 0
    return this.#numbers[of].draw(isDue)
  }

  #write(kind: Kind, record: number): ChainLikeWrite {
    const write = kind.write(record, this.#height)
    this.#writes++
    if (write.isCreation) this.#creations++
    return write
  }
}
